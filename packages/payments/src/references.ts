/** Reads the merchant's references as a stream, from a cursor to the end and round to it. */
import { check } from '@paylink/core/internal';
import type { References } from './contract.js';
import { now, startTimer } from './run.js';

export interface Place {
  /** Undefined if the merchant's list has something else than a string here. */
  readonly reference: string | undefined;
  readonly index: number;
}

export interface Item extends Place {
  /** Position in this run. */
  readonly order: number;
}

/** Contains the reference too, because the orders in front of it may be paid by the next run. */
export function toCursor({ index, reference = '' }: Place): string {
  return `${index}:${reference}`;
}

/** @throws ConfigurationError */
export function parseCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const match = typeof cursor === 'string' ? /^(\d{1,15}):(.*)$/s.exec(cursor) : null;
  check(match !== null, 'cursor', 'must be the cursor of a report or of onProgress');
  return { index: Number(match[1]), reference: match[2]! };
}

/** A string is iterable too, by its characters. @throws ConfigurationError */
export function checkReferences(references: References, name = 'references'): References {
  const isList = typeof references === 'object' && references !== null;
  check(
    isList && (Symbol.iterator in references || Symbol.asyncIterator in references),
    name,
    'must be an iterable or async iterable of references, such as an array',
  );
  return references;
}

/** Returns true if each iteration gives the references anew. A generator is its own iterator. */
export function isRepeatable(references: References): boolean {
  if (!(Symbol.iterator in references)) return false;
  return (references[Symbol.iterator]() as unknown) !== references;
}

/**
 * Yields each reference once, from the start to the end, and then those before the start.
 *
 * @param read gives the references, and gives them again if `canRepeat`
 * @param ended aborts when nobody takes items any more: a list may never end
 */
export async function* inOrder(
  read: () => Promise<References>,
  canRepeat: boolean,
  start: Place | undefined,
  ended: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const seen = new SeenReferences();
  const skipped: (string | undefined)[] = [];
  let order = 0;
  let first = start === undefined ? 0 : Infinity;
  for await (const { reference, index } of numbered(await read(), ended)) {
    const isStart = index === start?.index || (reference ?? null) === start?.reference;
    if (isStart) first = Math.min(first, index);
    if (index >= first) {
      if (seen.add(reference)) yield { reference, index, order: order++ };
    } else if (!canRepeat) {
      skipped.push(reference);
    }
  }
  const again = canRepeat && first > 0 ? await read() : skipped;
  for await (const { reference, index } of numbered(again, ended)) {
    if (index >= first) return;
    if (seen.add(reference)) yield { reference, index, order: order++ };
  }
}

/** Milliseconds after which a list lets timers and requests have their turn. */
const WITHOUT_REST = 10;

async function* numbered(references: References | Iterable<unknown>, ended: AbortSignal) {
  let awakeSince = now();
  let index = 0;
  for await (const value of references as AsyncIterable<unknown>) {
    if (now() - awakeSince > WITHOUT_REST) {
      await new Promise((resolve) => void startTimer(resolve, 0));
      awakeSince = now();
    }
    if (ended.aborted) return;
    yield { reference: typeof value === 'string' ? value : undefined, index: index++ };
  }
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
  add(reference: string | undefined): boolean {
    if (reference === undefined) return true;
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
