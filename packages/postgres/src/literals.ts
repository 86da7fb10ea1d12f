/** Values as SQL text: no statement of the store has parameters. */
import { createHash } from 'node:crypto';
import { check } from '@paylink/core';

/** The key or turn as it is, if it is a SHA-256 in hex. Else its SHA-256. */
export function digestOf(value: string): string {
  return /^[0-9a-f]{64}$/.test(value) ? value : createHash('sha256').update(value).digest('hex');
}

export function digits(transaction: string | undefined): string {
  if (transaction === undefined || !/^\d+$/.test(transaction)) {
    throw new TypeError('the database gave no row for a statement of the store');
  }
  return transaction;
}

/** The beginning of each literal of bytes. */
export const BYTES = "decode('";

/** Half as long in the index as its digits. `sha256('payment.succeeded:order-42')` finds it. */
export function bytes(hex: string): string {
  return `${BYTES}${hex}', 'hex')`;
}

/**
 * A literal that means the same whatever `standard_conforming_strings` is.
 *
 * @throws TypeError if the value contains NUL, which PostgreSQL cannot hold
 */
export function text(value: string): string {
  if (value.includes('\0')) throw new TypeError('PostgreSQL cannot hold a text that contains NUL');
  return `E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

export function identifier(option: string, name: string): string {
  // PostgreSQL silently cuts longer names off, and two tables would be one.
  const isName = typeof name === 'string' && name !== '' && !name.includes('\0');
  check(
    isName && Buffer.byteLength(name) < 64,
    option,
    'must be a name of 1 to 63 bytes, unquoted',
  );
  return `"${name.replaceAll('"', '""')}"`;
}
