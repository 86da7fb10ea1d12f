import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from '../scripts/format.mjs';

/** Replaces the lines of a page between `<!-- name -->` and `<!-- end of name -->`. */
export async function writeBetweenMarks(
  page: string,
  name: string,
  linesOf: (before: string) => string,
): Promise<void> {
  const path = fileURLToPath(new URL(`../docs/${page}`, import.meta.url));
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`];
  const [head = '', rest = ''] = readFileSync(path, 'utf8').split(start);
  const [before = '', tail] = rest.split(end);
  if (tail === undefined) throw new Error(`docs/${page} has no marks for "${name}"`);
  const text = `${head}${start}\n${linesOf(before)}\n\n${end}${tail}`;
  writeFileSync(path, await format(path, text));
}
