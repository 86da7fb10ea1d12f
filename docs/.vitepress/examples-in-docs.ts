/**
 * `pnpm docs:write` writes the copies of examples into the documents. `--check` changes nothing,
 * and exits with 1 if a document differs.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from '../../scripts/format.mjs';
import { DOCS } from './pages.js';

const ROOT = join(DOCS, '..');

/** A block whose first line names its file. */
const COPY = /^```(ts|yaml)\n(\/\/|#) (examples\/\S+)\n.*?^```$/gms;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const withCopies = (markdown: string): string =>
  markdown.replace(
    COPY,
    (_whole, language: string, mark: string, file: string) =>
      `\`\`\`${language}\n${mark} ${file}\n${read(file).trim()}\n\`\`\``,
  );

/** Every document that shows an example, by its path, as it must be. */
export async function documentsWithCopies(): Promise<Map<string, string>> {
  const names = readdirSync(DOCS).filter((name) => name.endsWith('.md'));
  const files = new Map<string, string>();
  for (const path of ['README.md', 'AGENTS.md', ...names.map((name) => `docs/${name}`)]) {
    const markdown = read(path);
    if (markdown.match(COPY) === null) continue;
    files.set(path, await format(path, withCopies(markdown)));
  }
  return files;
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of await documentsWithCopies()) {
    if (read(path) === text) continue;
    console.log(path);
    if (process.argv.includes('--check')) process.exitCode = 1;
    else writeFileSync(join(ROOT, path), text);
  }
}
