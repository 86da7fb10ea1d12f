import type { Aborts } from './aborts.js';
import type { PgPool } from './drivers.js';

/** What `pg`'s Pool shows of itself; another pool may show nothing. */
interface PoolCounts {
  readonly options?: { readonly max?: unknown };
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  on?(event: 'remove', listener: () => void): unknown;
}

const all = new WeakMap<PgPool, PoolPlaces>();

/** The connections of a pool that are in transactions of its stores: how many there are, and how many there may be. */
export class PoolPlaces {
  readonly #pool: PoolCounts;
  readonly #max: number;
  #limit: number;
  #held = 0;
  #lost = 0;
  readonly #waiting = new Set<() => void>();

  private constructor(pool: PoolCounts) {
    this.#pool = pool;
    const max = pool.options?.max;
    this.#max = typeof max === 'number' ? max : Infinity;
    this.#limit = this.#max;
    pool.on?.('remove', () => (this.#lost += 1));
  }

  /** One for all stores on the pool. */
  static of(pool: PgPool): PoolPlaces {
    let found = all.get(pool);
    if (found === undefined) all.set(pool, (found = new PoolPlaces(pool as PoolCounts)));
    return found;
  }

  /** Waits for a place, which `leave` gives back. @throws the signal's reason */
  async enter(aborts: Aborts): Promise<void> {
    if (this.#held < this.#limit && this.#waiting.size === 0) {
      this.#held += 1;
      return;
    }
    let wake!: () => void;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.add(wake);
    let stopWaiting!: () => void;
    const aborted = new Promise<void>((resolve) => (stopWaiting = aborts.on(resolve)));
    await Promise.race([woken, aborted]);
    stopWaiting();
    if (!aborts.aborted) return;
    // It was given a place in the moment of the abort.
    if (!this.#waiting.delete(wake)) this.leave();
    aborts.throwIfAborted();
  }

  leave(): void {
    this.#held -= 1;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) {
      if (this.#held >= this.#limit) return;
      this.#held += 1;
      this.#waiting.delete(wake);
      wake();
    }
  }

  /** From now on leaves a connection to others, where the pool has more than one. Gives the limit, where the pool shows its own. */
  leaveOne(): number | undefined {
    if (this.#max === Infinity) return undefined;
    this.#limit = Math.max(1, this.#max - 1);
    return this.#limit;
  }

  /** Whether transactions of stores hold every connection while others wait for one. */
  get starvesOthers(): boolean {
    return this.#held >= this.#max && (this.#pool.waitingCount ?? 0) > 0;
  }

  /** Changes with each connection that was lost or closed, and each failed attempt; undefined where the pool does not show it. */
  get lost(): number | undefined {
    return this.#pool.on === undefined ? undefined : this.#lost;
  }

  /** Says that no connection is free, where that is so. */
  exhaustion(): string | undefined {
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = this.#pool;
    if (totalCount < this.#max || idleCount > 0) return undefined;
    return (
      `the pool is exhausted: all ${this.#max} connections are in use, ${this.#held} of them by transactions of the store, ` +
      `and ${waitingCount} requests wait for one`
    );
  }

  /** Counts what fails, and says of a pool's time-out that no connection was free. */
  async explained<T>(running: Promise<T>): Promise<T> {
    try {
      return await running;
    } catch (error) {
      this.#lost += 1;
      const reason = String(error).includes('timeout exceeded when trying to connect') ? this.exhaustion() : undefined;
      throw reason === undefined ? error : new Error(reason, { cause: error });
    }
  }
}
