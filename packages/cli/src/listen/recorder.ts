import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../terminal/whole-file.js';
import type { Delivery } from './forward.js';

/** Bytes of all recordings. Holds about 50,000 deliveries. */
const MOST_BYTES = 100_000_000;

/** Writes a delivery, and returns the path of its body. Returns undefined if the folder is full. */
export type Recorder = (delivery: Delivery) => string | undefined;

/**
 * Writes each delivery into two private files, because they hold a genuine signature: the exact
 * body, and the rest as JSON. Never deletes a file: otherwise a stranger at the tunnel's address
 * could push out genuine deliveries with forged ones.
 */
export function createRecorder(folder: string): Recorder {
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  let held = sizes.reduce((sum, size) => sum + size, 0);
  return ({ body, receivedAt, method, headers }) => {
    const rest = `${JSON.stringify({ receivedAt, method, headers }, undefined, 2)}\n`;
    const bytes = body.length + Buffer.byteLength(rest);
    if (held + bytes > MOST_BYTES) return undefined;
    held += bytes;
    const name = `${receivedAt.replace(/[:.]/g, '-')}-${randomBytes(3).toString('hex')}`;
    writeWhole(join(folder, `${name}.json`), rest);
    writeWhole(join(folder, `${name}.body`), body);
    return join(folder, `${name}.body`);
  };
}
