import { check } from '@paylink/core/idempotency';

/** A reference, with its place in the list that the merchant gave. */
export interface Item {
  readonly reference: string;
  readonly index: number;
  /** Its place in the order of this run. */
  readonly order: number;
}

export type References = (Iterable<string> & object) | AsyncIterable<string>;

/** Where a run starts. The index is for a reference that is no longer in the list, because its order has been paid meanwhile. */
export interface Start {
  readonly index: number;
  readonly reference: string;
}

export function cursorAt({ index, reference }: Start): string {
  return `${index}:${reference}`;
}

/** @throws ConfigurationError when it is no cursor of a report. */
export function readCursor(cursor: string | undefined): Start | undefined {
  if (cursor === undefined) return undefined;
  const match = typeof cursor === 'string' ? /^(\d{1,15}):(.*)/s.exec(cursor) : null;
  const [, index, reference] = match ?? [];
  check(index !== undefined, 'cursor', 'must be the cursor of a report or of onProgress');
  return { index: Number(index), reference: reference! };
}

/** Gives each reference once: from the start on to the end of the list, then from its beginning. */
export class ReferenceOrder implements AsyncIterator<Item> {
  readonly total: number | undefined;
  readonly #references: Iterator<string> | AsyncIterator<string>;
  readonly #start: Partial<Start> | undefined;
  /** Those before the start, which are asked last. */
  readonly #postponed: Omit<Item, 'order'>[] = [];
  #started: boolean;
  #exhausted = false;
  #read = 0;
  #given = 0;

  constructor(references: References, start: Start | undefined) {
    if (Array.isArray(references)) {
      const list = references as readonly string[];
      this.total = list.length;
      // At random, so that what comes behind the limit of one run is not always the same.
      this.#start = { index: start === undefined ? Math.floor(Math.random() * list.length) : placeOf(list, start) };
    } else {
      this.#start = start;
    }
    this.#started = this.#start === undefined;
    this.#references = Symbol.asyncIterator in references ? references[Symbol.asyncIterator]() : references[Symbol.iterator]();
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    while (!this.#exhausted) {
      const next: IteratorResult<string, unknown> = await this.#references.next();
      if (next.done === true) {
        this.#exhausted = true;
        break;
      }
      const item = { reference: next.value, index: this.#read++ };
      this.#started ||= this.#isStart(item);
      if (this.#started) return this.#give(item);
      this.#postponed.push(item);
    }
    const item = this.#postponed[this.#given - (this.#read - this.#postponed.length)];
    return item === undefined ? { done: true, value: undefined } : this.#give(item);
  }

  /** Tells the source that no more is wanted, so that a database cursor behind it is closed. Not awaited: it may hang. */
  close(): void {
    if (this.#exhausted) return;
    try {
      Promise.resolve(this.#references.return?.()).catch(() => undefined);
    } catch {
      // The caller is given the reason why the run ended.
    }
  }

  #isStart({ reference, index }: Start): boolean {
    return index === this.#start!.index || (this.total === undefined && reference === this.#start!.reference);
  }

  #give(item: Omit<Item, 'order'>): IteratorResult<Item, undefined> {
    return { done: false, value: { ...item, order: this.#given++ } };
  }
}

/** Of a list that is known as a whole, the place of the reference counts, wherever it has moved to. */
function placeOf(list: readonly string[], { index, reference }: Start): number {
  const found = list.indexOf(reference);
  return found >= 0 ? found : index;
}
