/**
 * A mutex by tenant and order: the runs of one order go one after the other, so that one locked row
 * cannot take every connection of the pool.
 */
import { runError } from './order.js';
import { now, type Run } from './run.js';

/** Milliseconds for which a `credit` that does not settle keeps its order taken. */
const LONGEST_CREDIT = 300_000;

/** First in, first out. A Map that is read from its front is slow after many deletions. */
export class Queue<T> {
  readonly #items = new Map<number, T>();
  #first = 0;
  #next = 0;

  /** Returns the ticket with which the item can leave. */
  push(item: T): number {
    this.#items.set(this.#next, item);
    return this.#next++;
  }

  /** Returns false if the item has left before. */
  delete(ticket: number): boolean {
    return this.#items.delete(ticket);
  }

  shift(): T | undefined {
    while (this.#items.size > 0) {
      const item = this.#items.get(this.#first);
      this.#items.delete(this.#first++);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  values(): T[] {
    return [...this.#items.values()];
  }
}

/** The right to settle an order. */
export class Hold {
  readonly run: Run;
  /** Settles with the `credit` that is under way. */
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

  /** Calls `release` as soon as no `credit` is under way. */
  whenFree(release: () => void): void {
    if (this.#crediting === undefined) release();
    else void this.#crediting.then(release);
  }
}

interface TakenOrder {
  holder: Hold;
  readonly waiting: Queue<{ readonly hold: Hold; readonly go: () => void }>;
}

export class OrderLocks {
  readonly #taken = new Map<string, TakenOrder>();

  /** Runs the work when no other run has the order. @throws WebhookError `handler_timeout` */
  async hold<T>(run: Run, work: (hold: Hold) => Promise<T>): Promise<T> {
    const hold = new Hold(run);
    const order = this.#taken.get(run.key);
    if (order === undefined) this.#taken.set(run.key, { holder: hold, waiting: new Queue() });
    else if (order.holder.isLost) order.holder = hold;
    else await this.#waitFor(order, hold);
    try {
      return await work(hold);
    } finally {
      hold.whenFree(() => this.#release(hold));
    }
  }

  async #waitFor(order: TakenOrder, hold: Hold): Promise<void> {
    const { run } = hold;
    let ticket = -1;
    const free = () => new Promise<void>((go) => (ticket = order.waiting.push({ hold, go })));
    const late = () => stillTaken(order.holder.run);
    try {
      await run.queue('another run of the same order', free, run.end, late);
    } catch (error) {
      order.waiting.delete(ticket);
      this.#release(hold);
      throw error;
    }
  }

  #release(hold: Hold): void {
    const { key } = hold.run;
    const order = this.#taken.get(key);
    // A lost run can come back after another one has taken its order.
    if (order?.holder !== hold) return;
    const next = order.waiting.shift();
    if (next === undefined) this.#taken.delete(key);
    else {
      order.holder = next.hold;
      next.go();
    }
  }
}

function stillTaken({ step }: Run) {
  const problem = `another run of the same order still waits for ${step}`;
  return runError('handler_timeout', `${problem}: look for a row that is locked`);
}
