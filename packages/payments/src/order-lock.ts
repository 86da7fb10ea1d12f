/**
 * A mutex by tenant and order: the runs of one order go one after the other, so that one locked row
 * cannot take every connection of the pool.
 */
import type { WebhookError } from '@paylink/core';
import { runError } from './order.js';
import { now, type Run } from './run.js';

/** Milliseconds for which a `credit` that does not settle keeps its order taken. */
const LONGEST_CREDIT = 300_000;

/** First in, first out. */
export class Queue<K, V> extends Map<K, V> {
  /** Kept from one shift to the next, because a Map walks over deleted entries at its front. */
  #front: MapIterator<[K, V]> | undefined;

  shift(): [K, V] | undefined {
    if (this.size === 0) return undefined;
    this.#front ??= this.entries();
    const entry = this.#front.next().value!;
    super.delete(entry[0]);
    if (this.size === 0) this.#front = undefined;
    return entry;
  }

  override delete(key: K): boolean {
    const isDeleted = super.delete(key);
    // An iterator that stands still keeps every table that the Map has outgrown.
    if (isDeleted) this.#front = undefined;
    return isDeleted;
  }
}

/** The right to settle an order. */
export class Hold {
  readonly run: Run;
  /** Settles with the `credit` in progress. */
  #crediting: Promise<void> | undefined;
  #expiry: number | undefined;

  constructor(run: Run) {
    this.run = run;
  }

  get isLost(): boolean {
    return this.#expiry === undefined ? this.run.isLost : now() >= this.#expiry;
  }

  /** Keeps the order taken until its `credit` settles, at most five minutes. */
  keepFor(credit: Promise<unknown>): void {
    this.#expiry = now() + LONGEST_CREDIT;
    const settled = (): void => {
      this.#crediting = this.#expiry = undefined;
    };
    this.#crediting = credit.then(settled, settled);
  }

  /** Calls `release` as soon as no `credit` is in progress. */
  whenFree(release: () => void): void {
    if (this.#crediting === undefined) release();
    else void this.#crediting.then(release);
  }
}

interface TakenOrder {
  holder: Hold;
  /** Undefined until a second run comes. */
  waiting?: Queue<Hold, () => void>;
}

export class OrderLocks {
  readonly #taken = new Map<string, TakenOrder>();

  /** Runs the work when no other run has the order. @throws WebhookError `handler_timeout` */
  async hold<T>(run: Run, work: (hold: Hold) => Promise<T>): Promise<T> {
    const hold = new Hold(run);
    try {
      const order = this.#taken.get(run.key);
      if (order === undefined) this.#taken.set(run.key, { holder: hold });
      else if (order.holder.isLost) order.holder = hold;
      else await waitFor(order, hold);
      return await work(hold);
    } finally {
      hold.whenFree(() => this.#release(hold));
    }
  }

  #release(hold: Hold): void {
    const { key } = hold.run;
    const order = this.#taken.get(key);
    order?.waiting?.delete(hold);
    // A lost run can come back after another one has taken its order.
    if (order?.holder !== hold) return;
    const next = order.waiting?.shift();
    if (next === undefined) {
      this.#taken.delete(key);
      return;
    }
    const [holder, go] = next;
    order.holder = holder;
    go();
  }
}

function waitFor(order: TakenOrder, hold: Hold): Promise<void> {
  const waiting = (order.waiting ??= new Queue());
  const free = () => new Promise<void>((go) => void waiting.set(hold, go));
  const late = (): WebhookError => {
    const problem = `another run of the same order still waits for ${order.holder.run.step}`;
    return runError('handler_timeout', `${problem}: look for a locked row`);
  };
  return hold.run.queue('another run of the same order', free, hold.run.end, late);
}
