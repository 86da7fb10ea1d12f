/** Milliseconds: a mark that a restore, a failover or an operator took away is missed by then. */
const LIFETIME = 5_000;
const LIMIT = 10_000;

/**
 * The keys that this process has just seen done, so that a flood of replays does not reach the
 * database. Bounded: the older half of the keys is forgotten at once.
 */
export class RecentlyDone {
  readonly #lifetime: number;
  readonly #limit: number;
  #newer = new Map<string, number>();
  #older = new Map<string, number>();
  #era = 0;

  /** @param lifetime in milliseconds */
  constructor(lifetime = LIFETIME, limit = LIMIT) {
    this.#lifetime = lifetime;
    this.#limit = limit;
  }

  has(key: string): boolean {
    const expiry = this.#newer.get(key) ?? this.#older.get(key);
    return expiry !== undefined && performance.now() < expiry;
  }

  /** Changes with each `clear`. Read the era before you ask the database, and give it to `add`. */
  get era(): number {
    return this.#era;
  }

  /** Remembers a key whose mark is committed, unless `clear` was called since `era` was read. */
  add(key: string, era = this.#era): void {
    if (era !== this.#era) return;
    if (this.#newer.size >= this.#limit / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, performance.now() + this.#lifetime);
  }

  /** Forgets all keys: call it if a connection is lost, since the next server may be another. */
  clear(): void {
    this.#era += 1;
    this.#newer.clear();
    this.#older.clear();
  }
}
