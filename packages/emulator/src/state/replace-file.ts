import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

const { O_WRONLY, O_CREAT, O_EXCL } = constants;
// Windows does not have O_NOFOLLOW. O_EXCL alone refuses a link too.
const FRESH = O_WRONLY | O_CREAT | O_EXCL | ((constants.O_NOFOLLOW as number | undefined) ?? 0);

/**
 * Writes a new file beside `path`, and renames it to `path` once it is on the disk. If this fails,
 * the old file stays. Only the owner can read the file.
 *
 * @throws the error of the file system
 */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.tmp`;
  // Left by a killed process. This removes a link and does not follow it.
  rmSync(temporary, { force: true });
  try {
    writeFresh(temporary, Buffer.from(text));
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeFresh(path: string, bytes: Buffer): void {
  const descriptor = openSync(path, FRESH, 0o600);
  try {
    // A nearly full disk may take only a part, without an error.
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
