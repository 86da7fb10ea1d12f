/** Writing that a full disk, a kill or a planted link cannot turn into a loss. */
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

/** A file that is open for appending, and its size in bytes. */
export interface OpenFile {
  readonly descriptor: number;
  size: number;
}

const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants;
// Windows has no O_NOFOLLOW. O_EXCL alone refuses a link too.
const FRESH =
  O_WRONLY | O_CREAT | O_EXCL | O_APPEND | ((constants.O_NOFOLLOW as number | undefined) ?? 0);

/**
 * Writes a whole new file beside `path`, and gives it this name once it is on the disk. If that
 * fails, the old file stays.
 *
 * @throws the error of the file system
 */
export function replaceFile(path: string, text: string): OpenFile {
  const temporary = `${path}.tmp`;
  // Of a process that was killed. A link is removed, not followed.
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
    // A disk that is nearly full takes a part of it, without an error.
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

/** A rename is durable once its folder is on the disk. Not every system opens folders. */
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
    // This file system cannot sync a folder.
  } finally {
    closeSync(folder);
  }
}
