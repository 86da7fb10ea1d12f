import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a file as a whole or not at all, also through a crash. */
export function writeWhole(path: string, content: string, mode: number): void {
  // Nobody reads a secret of the draft, which has its mode from the start, and nobody can plant a
  // link under its name, which `wx` would not follow.
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { flag: 'wx', mode, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
