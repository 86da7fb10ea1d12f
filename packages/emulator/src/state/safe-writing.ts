/** Writes files so that a full disk, a kill or a planted link cannot cause a loss. */
import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** An open file for appending, with its size in bytes. */
export interface OpenFile {
  readonly descriptor: number;
  size: number;
}

const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants;
// Windows does not have O_NOFOLLOW. O_EXCL alone refuses a link too.
const FRESH =
  O_WRONLY | O_CREAT | O_EXCL | O_APPEND | ((constants.O_NOFOLLOW as number | undefined) ?? 0);

/**
 * Writes a new file beside `path`, and renames it to `path` once it is on the disk. If this fails,
 * the old file stays.
 *
 * @throws the error of the file system
 */
export function replaceFile(path: string, text: string): OpenFile {
  const temporary = `${path}.tmp`;
  // Left by a killed process. This removes a link and does not follow it.
  rmSync(temporary, { force: true });
  const fresh: OpenFile = { descriptor: openSync(temporary, FRESH, 0o600), size: 0 };
  try {
    appendAll(fresh, text);
    fsyncSync(fresh.descriptor);
    renameSync(temporary, path);
  } catch (error) {
    close(fresh);
    rmSync(temporary, { force: true });
    throw error;
  }
  keepName(path);
  return fresh;
}

/** Appends all of `text`, or nothing. @throws the error of the file system */
export function appendAll(file: OpenFile, text: string): void {
  const bytes = Buffer.from(text);
  try {
    // A nearly full disk may take only a part, without an error.
    for (let at = 0; at < bytes.length;) at += writeSync(file.descriptor, bytes, at);
  } catch (error) {
    ftruncateSync(file.descriptor, file.size);
    throw error;
  }
  file.size += bytes.length;
}

export function close({ descriptor }: OpenFile): void {
  closeSync(descriptor);
}

/** Syncs the folder, which makes a rename durable. Some systems cannot open folders. */
function keepName(path: string): void {
  let folder: number;
  try {
    folder = openSync(dirname(path), 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(folder);
  } catch {
    // This file system cannot sync folders.
  } finally {
    closeSync(folder);
  }
}
