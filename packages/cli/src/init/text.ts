import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { usageFailure } from '../terminal/failure.js';

/**
 * Reads a file of the project, or returns `undefined` if it does not exist.
 *
 * @throws Failure for anything but UTF-8 text in a file: reading a pipe or a device may never end
 */
export function readText(folder: string, path: string): string | undefined {
  const file = join(folder, path);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile()) throw usageFailure(`${path} is not a file`);
  const text = readFileSync(file, 'utf8');
  // A byte order mark becomes a part of the first name.
  if (!/\0|\uFFFD|^\uFEFF/.test(text)) return text;
  throw usageFailure(
    `${path} is not plain UTF-8 text`,
    'save the file as UTF-8 without a byte order mark (PowerShell writes UTF-16)',
  );
}
