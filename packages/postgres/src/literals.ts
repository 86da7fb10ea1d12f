/** Writes values as SQL text, because the store's statements have no parameters. */
import { createHash } from 'node:crypto';
import { check } from '@paylink/core/internal';

/** Returns a SHA-256 in hex unchanged, and the SHA-256 of any other key or turn. */
export function digestOf(value: string): string {
  return /^[0-9a-f]{64}$/.test(value) ? value : createHash('sha256').update(value).digest('hex');
}

export function digits(transaction: string | undefined): string {
  if (transaction === undefined || !/^\d+$/.test(transaction)) {
    throw new TypeError('the database returned no row for a statement of the store');
  }
  return transaction;
}

/** The start of each bytes literal. */
export const BYTES = "decode('";

/**
 * Writes bytes, which take half the space of their digits in the index.
 * `sha256('payment.succeeded:order-42')` finds them.
 */
export function bytes(hex: string): string {
  return `${BYTES}${hex}', 'hex')`;
}

/**
 * Writes a literal that has the same meaning under any `standard_conforming_strings`.
 *
 * @throws TypeError if the value contains NUL, which PostgreSQL cannot store
 */
export function text(value: string): string {
  if (value.includes('\0')) throw new TypeError('PostgreSQL cannot store a text with NUL');
  return `E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

export function identifier(option: string, name: string): string {
  // PostgreSQL silently truncates longer names, and two tables would become one.
  const isName = typeof name === 'string' && name !== '' && !name.includes('\0');
  check(
    isName && Buffer.byteLength(name) < 64,
    option,
    'must be a name of 1 to 63 bytes, unquoted',
  );
  return `"${name.replaceAll('"', '""')}"`;
}
