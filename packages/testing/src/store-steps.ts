/** Helpers of the store tests. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

export interface Run {
  readonly signal: AbortSignal;
  readonly turn: string;
}

/** Milliseconds for each step: most runners allow five seconds for a test. */
export const PATIENCE = 3_000;

let keys = 0;
const session = `${process.pid} ${Date.now()} ${Math.random()}`;

/** Returns an unused key, a SHA-256 in hex like the keys of payments. */
export function newKey(): string {
  return createHash('sha256').update(`${session} ${++keys}`).digest('hex');
}

/** Returns the options of one run with its own signal. `turn` defaults to the key's turn. */
export function runOptions(
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
