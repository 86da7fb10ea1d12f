/** Files of JSON that are whole at any moment, also after a crash. */
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { usageFailure } from '../failure.js';

export function writeJsonFile(path: string, value: unknown): void {
  const draft = `${path}.${process.pid}.draft`;
  const descriptor = openSync(draft, 'w');
  try {
    writeSync(descriptor, `${JSON.stringify(value)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, path);
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
