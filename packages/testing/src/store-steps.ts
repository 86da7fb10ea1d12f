/** The steps of the tests of a store. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

export interface Run {
  readonly signal: AbortSignal;
  readonly turn: string;
}

/** Milliseconds for each step: less than the five seconds that most runners give a test. */
export const PATIENCE = 3_000;

let keys = 0;
const session = `${process.pid} ${Date.now()} ${Math.random()}`;

/** A key as payments makes it: a SHA-256 in hex, never used before. */
export function newKey(): string {
  return createHash('sha256').update(`${session} ${++keys}`).digest('hex');
}

/**
 * The options of one run of a key, with a signal of its own. The turn is the key's if not given.
 */
export function of(
  key: string,
  { signal, turn }: { [Name in keyof Run]?: Run[Name] | undefined } = {},
): Run {
  const turnOfKey = createHash('sha256').update(`turn of ${key}`).digest('hex');
  return { signal: signal ?? new AbortController().signal, turn: turn ?? turnOfKey };
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function within<T>(step: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new assert.AssertionError({ message: `${step} took more than ${PATIENCE} ms` }));
    }, PATIENCE);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
