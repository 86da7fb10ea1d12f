import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Finding {
  /** Path and line, such as `src/app.ts:12`. */
  readonly at: string;
  /** The first group of the pattern. */
  readonly group: string | undefined;
}

const SOURCE = /\.[cm]?[jt]sx?$/;
const TEST = /\.(?:test|spec|d)\.[cm]?[jt]sx?$/;
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'out', 'coverage', 'test', 'tests']);
/** Bounds the search in folders that hold more than one project. */
const MOST_FILES = 2_000;
/** Generated code is longer than the lines that this command looks for. */
const MOST_BYTES = 200_000;

/** Returns the first match outside tests, builds and comments. */
export function findInSources(folder: string, pattern: RegExp): Finding | undefined {
  for (const path of sourcesOf(folder)) {
    const file = join(folder, path);
    if (statSync(file).size > MOST_BYTES) continue;
    const text = readFileSync(file, 'utf8').replace(/\/\/.*$/gm, '');
    const match = pattern.exec(text);
    if (match === null) continue;
    const line = text.slice(0, match.index).split('\n').length;
    return { at: `${path}:${line}`, group: match[1] };
  }
  return undefined;
}

function sourcesOf(folder: string): string[] {
  const found: string[] = [];
  const folders = [''];
  for (let path = folders.shift(); path !== undefined; path = folders.shift()) {
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !SKIPPED.has(entry.name)) folders.push(below);
      } else if (entry.isFile() && SOURCE.test(entry.name) && !TEST.test(entry.name)) {
        found.push(below);
        if (found.length === MOST_FILES) return found;
      }
    }
  }
  return found;
}
