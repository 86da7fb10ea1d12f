/**
 * Milliseconds. After this time a process notices a mark that a restore, a failover or an operator
 * removed.
 */
const LIFETIME = 5_000;
const LIMIT = 10_000;

/**
 * Remembers the keys that this process has just seen done, so that a flood of replays does not
 * reach the database. Beyond its limit, forgets the older half of the keys.
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

  /**
   * Changes with each `clear`. Read the era before you query the database, and pass it to `add`.
   */
  get era(): number {
    return this.#era;
  }

  /**
   * Remembers a key whose mark is committed, unless other code called `clear` since you read `era`.
   */
  add(key: string, era = this.#era): void {
    if (era !== this.#era) return;
    if (this.#newer.size >= this.#limit / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, performance.now() + this.#lifetime);
  }

  /** Forgets all keys. Call it if a connection is lost, because the next server may be another. */
  clear(): void {
    this.#era += 1;
    this.#newer.clear();
    this.#older.clear();
  }
}
