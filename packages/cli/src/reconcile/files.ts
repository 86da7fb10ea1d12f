/** Files of JSON that are whole at any moment, also after a crash. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { usageFailure } from '../failure.js';
import { writeWhole } from '../whole-file.js';

export function writeJsonFile(path: string, value: unknown): void {
  // A link stays, and its target is replaced: a volume, for example.
  writeWhole(existsSync(path) ? realpathSync(path) : path, `${JSON.stringify(value)}\n`);
}

/** @throws Error if the file holds no JSON */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @throws Failure if there is no folder for the file */
export function checkFolder(path: string, option: string): void {
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true)
    throw usageFailure(`${option}: there is no folder ${dirname(path)}`);
}
