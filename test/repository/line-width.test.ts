/** The formatter wraps code at 100 columns, and leaves comments as they are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Made by a tool, or another project's files. */
const LEFT_OUT = /^(node_modules|dist|coverage|projects|consumer|cache|reference|prisma|\..*)$/;
const COMMENT = /^\s*(\/\/|\/?\*)/;

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return LEFT_OUT.test(entry.name) && entry.name !== '.vitepress' ? [] : filesIn(path);
    return /\.([cm]?js|tsx?)$/.test(entry.name) ? [path] : [];
  });
}

it('no line of a comment has more than 100 columns, unless for an address', () => {
  const files = filesIn('');
  expect(files.length).toBeGreaterThan(500);
  const wide = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        line.length > 100 && COMMENT.test(line) && !/https?:|oxlint-disable/.test(line)
          ? `${file}:${index + 1}`
          : [],
      ),
  );
  expect(wide).toEqual([]);
});
