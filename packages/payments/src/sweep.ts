/** Takes many references through a limited number of runs at a time, as a stream. */
import {
  check,
  checkSignal,
  validateBound,
  validateOptions,
  withinBounds,
} from '@paylink/core/internal';
import type { References, SweepOptions } from './contract.js';
import { now, startTimer } from './pace.js';

const NAMES = ['cursor', 'onProgress', 'concurrency', 'tenant', 'signal', 'timeLimit'];

/** @throws ConfigurationError that names the option */
export function validateSweep(options: SweepOptions) {
  const own = validateOptions(options, NAMES);
  const { cursor, onProgress, concurrency = 4, tenant, signal, timeLimit = 600_000 } = own;
  const isHook = onProgress === undefined || typeof onProgress === 'function';
  check(isHook, 'onProgress', 'must be a function');
  checkSignal(signal);
  validateBound('concurrency', concurrency, 1, 100);
  validateBound('timeLimit', timeLimit);
  return { start: parseCursor(cursor), onProgress, concurrency, tenant, signal, timeLimit };
}

/** A place among the merchant's references. */
export interface Item {
  readonly reference: string;
  /** False if the merchant's list has something else here. The reference is then empty. */
  readonly isString: boolean;
  /** Index in the merchant's list. */
  readonly index: number;
  /** Position in this run. */
  readonly order: number;
}

export type Start = Pick<Item, 'reference' | 'index'>;

/** Contains the reference too, because the orders in front of it may be paid by the next run. */
export function toCursor({ index, reference }: Start): string {
  return `${index}:${reference}`;
}

function parseCursor(cursor: string | undefined): Start | undefined {
  if (cursor === undefined) return undefined;
  const match = typeof cursor === 'string' ? /^(\d{1,15}):(.*)$/s.exec(cursor) : null;
  check(match !== null, 'cursor', 'must be the cursor of a report or of onProgress');
  return { index: Number(match[1]), reference: match[2]! };
}

/** References kept as one text, because a million short strings take 60 MB. */
const KEPT_TOGETHER = 1_000;

/**
 * Yields each reference once, from the start to the end, and then those before the start.
 *
 * @param read gives the references anew at each call if `isRepeatable`
 * @param ended aborts when nobody takes items any more: a list may never end
 */
export async function* inOrder(
  read: () => Promise<References>,
  isRepeatable: boolean,
  start: Start | undefined,
  ended: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const seen = new SeenReferences();
  const rest = createRest();
  const kept: string[] = [];
  let batch: unknown[] = [];
  let order = 0;
  const toItem = (value: unknown): Item | undefined => {
    const isString = typeof value === 'string';
    if (isString && !seen.add(value)) return undefined;
    return { reference: isString ? value : '', isString, index, order: order++ };
  };
  let index = -1;
  let first = start === undefined ? 0 : Infinity;
  for await (const reference of await read()) {
    if (ended.aborted) return;
    index++;
    if (index === start?.index || reference === start?.reference) first = Math.min(first, index);
    const item = index >= first ? toItem(reference) : undefined;
    if (item !== undefined) {
      yield item;
      continue;
    }
    await rest();
    if (isRepeatable || index >= first) continue;
    if (batch.push(orNull(reference)) < KEPT_TOGETHER) continue;
    kept.push(JSON.stringify(batch));
    batch = [];
  }
  index = -1;
  for await (const reference of isRepeatable && first > 0 ? await read() : unpack(kept, batch)) {
    index++;
    if (index >= first || ended.aborted) return;
    const item = toItem(reference);
    if (item === undefined) await rest();
    else yield item;
  }
}

/** Keeps strings alone, because JSON has no form of some other values. */
function orNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function* unpack(kept: readonly string[], rest: readonly unknown[]): Generator {
  for (const batch of kept) yield* JSON.parse(batch) as unknown[];
  yield* rest;
}

/**
 * Remembers a million references in 16 MB, by their hashes. Two of a million share one with a
 * probability of 1 to 18,000. The second is then left to the next run, whose hashes differ.
 */
class SeenReferences {
  readonly #seed = Math.floor(Math.random() * 2 ** 32);
  #hashes = new Float64Array(1_024);
  #size = 0;

  /** Returns false if the reference was added before. */
  add(reference: string): boolean {
    if (!this.#insert(hash(reference, this.#seed))) return false;
    if (++this.#size * 2 < this.#hashes.length) return true;
    const old = this.#hashes;
    this.#hashes = new Float64Array(old.length * 2);
    for (const each of old) if (each !== 0) this.#insert(each);
    return true;
  }

  #insert(value: number): boolean {
    const { length } = this.#hashes;
    let place = value % length;
    while (this.#hashes[place] !== 0) {
      if (this.#hashes[place] === value) return false;
      place = (place + 1) % length;
    }
    this.#hashes[place] = value;
    return true;
  }
}

/** Returns a whole number from 1 to 2^53 (cyrb53 by bryc, public domain). */
function hash(text: string, seed: number): number {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 2 ** 32 * (2_097_151 & low) + (high >>> 0) + 1;
}

/** Milliseconds for an item after the end, to count the rest of an array. */
const LAST_ITEM = 100;

/** Milliseconds after which a run lets timers and requests have their turn. */
const WITHOUT_REST = 10;

/** Returns a function that waits for the next turn of the event loop, now and then. */
function createRest(): () => Promise<void> | undefined {
  let awakeSince = now();
  let rest: Promise<void> | undefined;
  return () => {
    if (now() - awakeSince < WITHOUT_REST) return undefined;
    rest ??= new Promise((resolve) => {
      startTimer(() => {
        rest = undefined;
        awakeSince = now();
        resolve();
      }, 0);
    });
    return rest;
  };
}

export interface Parallel {
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  /** The value of `now()` after which the run takes no item. */
  readonly end: number;
  /** Returns true if no further item is needed. */
  readonly isEnough: () => boolean;
}

/**
 * Calls `work` for each item as it arrives. Resolves with false if an item had not arrived by the
 * end.
 *
 * @throws the reason of the signal, or the error of the items
 */
export async function inParallel(
  items: AsyncGenerator<Item, void, undefined>,
  { concurrency, signal, end, isEnough }: Parallel,
  work: (item: Item) => Promise<void>,
): Promise<boolean> {
  const late = new Error('the references yielded nothing before the time limit');
  const rest = createRest();
  const take = async (): Promise<void> => {
    while (!isEnough()) {
      await rest();
      signal?.throwIfAborted();
      const milliseconds = Math.max(LAST_ITEM, end - now());
      const bounds = { milliseconds, reason: () => late, isBackground: true };
      const next = await withinBounds(items.next(), bounds);
      if (next.done === true) return;
      await work(next.value);
    }
  };
  try {
    const taken = await Promise.allSettled(Array.from({ length: concurrency }, take));
    signal?.throwIfAborted();
    const errors = taken.flatMap((each) =>
      each.status === 'rejected' ? [each.reason as unknown] : [],
    );
    for (const error of errors) if (error !== late) throw error;
    return errors.length === 0;
  } finally {
    // Closes a database cursor behind the references, and does not wait, because that may hang.
    items.return().catch(() => undefined);
  }
}
