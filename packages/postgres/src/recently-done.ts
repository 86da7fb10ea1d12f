/** Milliseconds, and keys: small enough that a mark which another process deletes, or a restore or failover loses, is missed soon. */
const LIFETIME = 5_000;
const MOST = 10_000;

/**
 * The keys that this process has just seen done, so that a flood of replays does not reach the database. Emptied when a connection
 * is lost, since the server behind the next one may be another.
 */
export class RecentlyDone {
  readonly #connectionsLost: () => number | undefined;
  /** Two halves, so that the older goes as a whole: to find the oldest key of a Map costs more than a statement. */
  #newer = new Map<string, number>();
  #older = new Map<string, number>();
  #clears = 0;
  #era: number | undefined;

  /** @param connectionsLost changes with each lost connection; undefined where that is not seen, and then nothing is remembered */
  constructor(connectionsLost: () => number | undefined) {
    this.#connectionsLost = connectionsLost;
  }

  has(key: string): boolean {
    this.#leaveEra();
    const expiry = this.#newer.get(key) ?? this.#older.get(key);
    return expiry !== undefined && performance.now() < expiry;
  }

  /** To be read before the database is asked whether a key is done, and given to `add` with the answer. */
  get era(): number | undefined {
    const lost = this.#connectionsLost();
    return lost === undefined ? undefined : lost + this.#clears;
  }

  /** Only what is committed, and only if nothing was lost or deleted since the question. */
  add(key: string, era: number | undefined): void {
    if (era === undefined || era !== this.era) return;
    this.#leaveEra();
    if (this.#newer.size === MOST / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, performance.now() + LIFETIME);
  }

  clear(): void {
    this.#clears += 1;
  }

  #leaveEra(): void {
    const { era } = this;
    if (era === this.#era) return;
    this.#era = era;
    this.#newer.clear();
    this.#older.clear();
  }
}
