import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cannotBeRead, usageFailure } from '../terminal/failure.js';
import { readTextFile } from '../terminal/text-file.js';

/**
 * Reads a file of the project, or returns `undefined` if it does not exist.
 *
 * @throws Failure for anything but UTF-8 text without a byte order mark
 */
export function readText(folder: string, path: string): string | undefined {
  const file = join(folder, path);
  if (!existsSync(file)) return undefined;
  try {
    return readTextFile(file);
  } catch (error) {
    throw usageFailure(cannotBeRead('nothing was written', path, error));
  }
}
