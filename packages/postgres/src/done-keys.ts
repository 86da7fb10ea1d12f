/** Which keys are done: remembered for a moment, or read for many deliveries at once. */

type Read = (digests: readonly string[]) => Promise<ReadonlySet<unknown>>;

interface Waiting {
  readonly digest: string;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads under way at a time: two, so that one that hangs on a lost connection does not hold up the others. */
const AT_ONCE = 2;
const LARGEST = 200;
/** Deliveries that may wait for a read: each takes memory, and a sender can replay one without end. */
const MOST_WAITING = 10_000;
/** Milliseconds for a read, the wait for a connection included: pools wait for one without a limit by default. */
const LONGEST_READ = 10_000;

/**
 * Asks for many keys in one statement where many deliveries come at once, so that a flood of replays does not take the connections
 * that new orders need. A read is sent after it was asked for, never shared with one that is under way.
 */
export class DoneReads {
  readonly #read: Read;
  readonly #noAnswerReason: () => string | undefined;
  readonly #waiting: Waiting[] = [];
  #underWay = 0;

  /**
   * @param read gives those of the digests that are done
   * @param noAnswerReason says why a read gets no answer, where the server is not the reason
   */
  constructor(read: Read, noAnswerReason: () => string | undefined = () => undefined) {
    this.#read = read;
    this.#noAnswerReason = noAnswerReason;
  }

  isDone(digest: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MOST_WAITING)
        throw new Error(`${this.#noAnswerReason() ?? 'the database does not answer'}, and too many deliveries wait for it`);
      this.#waiting.push({ digest, resolve, reject });
      this.#startNext();
    });
  }

  #startNext(): void {
    if (this.#underWay === AT_ONCE || this.#waiting.length === 0) return;
    this.#underWay += 1;
    const batch = this.#waiting.splice(0, LARGEST);
    void this.#answer(batch).then(() => {
      this.#underWay -= 1;
      this.#startNext();
    });
  }

  async #answer(batch: readonly Waiting[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`${this.#noAnswerReason() ?? 'the database does not answer'} (waited ${LONGEST_READ} ms)`));
      }, LONGEST_READ);
    });
    try {
      const done = await Promise.race([this.#read(batch.map(({ digest }) => digest)), late]);
      for (const { digest, resolve } of batch) resolve(done.has(digest));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Milliseconds, and keys: small enough that a mark deleted by another process, or lost in a restore or failover, counts as missing within seconds. */
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

  /** `done`, or `lapsed` where the key's time is over: most likely it is still done. */
  recall(key: string): 'done' | 'lapsed' | undefined {
    this.#leaveEra();
    const expiry = this.#newer.get(key) ?? this.#older.get(key);
    if (expiry === undefined) return undefined;
    return performance.now() < expiry ? 'done' : 'lapsed';
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
