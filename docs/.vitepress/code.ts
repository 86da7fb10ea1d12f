/**
 * Code of pages in files, which `<<< path` includes: one file for both languages. In code/, the
 * path below the folder of the page is the path in the reader's project.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { DOCS } from './pages.js';

/** A block in a group has the label of its tab behind the path. */
const INCLUDE = /^<<< (\S+\.(\w+))(?: \[.*\])?$/gm;

/** Returns the name that readers see, from a path in the repository. */
export const nameOfCode = (path: string): string =>
  path.replace(/^docs\/\.vitepress\/code\/[\w-]+\//, '');

/** Puts the included files into a markdown file, as blocks that begin with their name. */
export function withCode(markdown: string, file: string): string {
  return markdown.replace(INCLUDE, (_whole, target: string, language: string) => {
    const path = posix.join(posix.dirname(file), target);
    const code = readFileSync(join(DOCS, '..', path), 'utf8').trim();
    const mark = language === 'yaml' ? '#' : '//';
    return `\`\`\`${language}\n${mark} ${nameOfCode(path)}\n${code}\n\`\`\``;
  });
}
