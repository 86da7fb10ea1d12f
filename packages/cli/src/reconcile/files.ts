/** Reads and writes JSON files that stay whole through a crash. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { usageFailure } from '../failure.js';
import { writeWhole } from '../whole-file.js';

export function writeJsonFile(path: string, value: unknown): void {
  // Replaces the target of a link and keeps the link, for example into a volume.
  writeWhole(existsSync(path) ? realpathSync(path) : path, `${JSON.stringify(value)}\n`);
}

/** @throws Error if the file is not JSON */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @throws Failure if the folder of the file does not exist */
export function checkFolder(path: string, option: string): void {
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true)
    throw usageFailure(`${option}: no such folder: ${dirname(path)}`);
}
