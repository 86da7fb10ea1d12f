import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a private file as a whole or not at all, also through a crash. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  // Nobody can plant a link under this name, and `wx` would not follow one.
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
