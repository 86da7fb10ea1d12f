/** The connections of a pool: how many the store may hold, and one of them, taken for a transaction. */
import type { Aborts } from './aborts.js';
import { withAdvice } from './database.js';
import { terminateTransaction } from './marks.js';
import type { PgClient, PgPool } from './options.js';
import { remove } from './remove.js';

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
  readonly #waiting: (() => void)[] = [];

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

  /** Waits for a place, where none is free; `leave` gives it back. @throws the signal's reason */
  enter(aborts: Aborts): Promise<void> | undefined {
    if (this.#held < this.#limit) {
      this.#held += 1;
      return undefined;
    }
    let wake!: () => void;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.push(wake);
    return aborts.race(woken, () => {
      // Where it is not there, it was given a place in the moment of the abort.
      if (!remove(this.#waiting, wake)) this.leave();
    });
  }

  leave(): void {
    this.#held -= 1;
    this.#wake();
  }

  #wake(): void {
    while (this.#held < this.#limit && this.#waiting.length > 0) {
      this.#held += 1;
      this.#waiting.shift()!();
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

  /** Counts a failure, and says of a pool's time-out that no connection was free. */
  failed(error: unknown): unknown {
    this.#lost += 1;
    const reason = String(error).includes('timeout exceeded when trying to connect') ? this.exhaustion() : undefined;
    return reason === undefined ? withAdvice(error) : new Error(reason, { cause: error });
  }
}

/** One result of a message of the simple protocol. */
export interface Result {
  readonly command: string;
  readonly rows: readonly unknown[];
}

/** Milliseconds to wait for the answer to COMMIT after the time is over. */
const COMMIT_GRACE = 10_000;

/** A connection of a pool, for one transaction. On abort it is destroyed, unless it is waiting for the answer to COMMIT. */
export class PoolConnection<Client extends PgClient> {
  readonly client: Client;
  /** The server's number of the transaction, once it has written something. */
  transaction: string | undefined;
  /** Whether others waited for a connection of the pool, and got none, when the time was over. */
  starvedOthers = false;
  readonly #pool: PgPool;
  readonly #places: PoolPlaces;
  readonly #aborts: Aborts;
  readonly #leave: () => void;
  #state: 'usable' | 'committing' | 'given up' = 'usable';
  #grace: NodeJS.Timeout | undefined;

  private constructor(pool: PgPool, client: Client, aborts: Aborts) {
    this.#pool = pool;
    this.#places = PoolPlaces.of(pool);
    this.client = client;
    this.#aborts = aborts;
    this.#leave = aborts.on(this.#onAbort);
  }

  /** @throws the signal's reason, also while it waits for an exhausted pool; a client that comes later goes back untouched. */
  static async take<Client extends PgClient>(pool: PgPool, aborts: Aborts): Promise<PoolConnection<Client>> {
    const places = PoolPlaces.of(pool);
    await places.enter(aborts);
    const connecting = takeClient<Client>(pool);
    try {
      const client = await aborts.race(connecting);
      // An abort between the end of the wait and here has called nothing back.
      aborts.throwIfAborted();
      return new PoolConnection(pool, client, aborts);
    } catch (error) {
      const failure = places.failed(error);
      places.leave();
      connecting.then((client) => {
        client.release();
        stopListening(client);
      }, ignore);
      throw failure;
    }
  }

  async query(sql: string): Promise<readonly Result[]> {
    try {
      const answer = (await this.client.query(sql)) as Result | readonly Result[];
      return Array.isArray(answer) ? (answer as readonly Result[]) : [answer as Result];
    } catch (error) {
      throw withAdvice(error);
    }
  }

  /** Commits, after the statement and in one message with it. @throws unless the server says COMMIT. */
  async commit(statement: string | undefined): Promise<void> {
    this.#aborts.throwIfAborted();
    this.#state = 'committing';
    const results = await this.query(statement === undefined ? 'COMMIT' : `${statement}; COMMIT`);
    this.#state = 'usable';
    const answer = results.at(-1)?.command;
    if (answer !== 'COMMIT') throw new Error(`the server answered COMMIT with ${String(answer)}: nothing was committed`);
  }

  /** Ends the transaction without effect: by ROLLBACK, or by closing the connection where that fails. */
  async rollBack(): Promise<void> {
    if (this.#state === 'given up') return;
    this.#state = 'usable';
    await this.query('ROLLBACK').catch(() => this.#destroy());
  }

  /** Gives the connection back to its pool. */
  end(): void {
    clearTimeout(this.#grace);
    this.#leave();
    if (this.#state !== 'given up') {
      this.#state = 'given up';
      this.client.release();
      stopListening(this.client);
    }
    this.#places.leave();
  }

  readonly #onAbort = (): void => {
    this.starvedOthers = this.#places.starvesOthers;
    if (this.#state === 'committing') this.#grace = setTimeout(() => this.#destroy(), COMMIT_GRACE);
    else this.#destroy();
  };

  /** Closes the socket, so that the server rolls back, and removes the connection from the pool. */
  #destroy(): void {
    if (this.#state === 'given up') return;
    this.#state = 'given up';
    this.client.release(true);
    // The pool only sends a goodbye, and a frozen server or network would never answer it.
    (this.client as { connection?: { stream?: { destroy?(): void } } }).connection?.stream?.destroy?.();
    this.#terminate();
  }

  /** A server in the middle of a statement does not look at its socket, and would hold the order's lock until the end. */
  #terminate(): void {
    if (this.transaction === undefined) return;
    this.#pool.query({ text: terminateTransaction(this.transaction), query_timeout: 10_000 }).catch(ignore);
  }
}

/**
 * Takes a client of the pool and listens for its errors from the first moment: without a listener, the error of a connection
 * that is out of its pool ends the process. By callback, since the server can close the connection between a promise's
 * resolution and the turn of the code that awaits it.
 */
export function takeClient<Client extends PgClient>(pool: PgPool): Promise<Client> {
  return new Promise((resolve, reject) => {
    const listen = (client: Client): void => {
      client.on('error', ignore);
      resolve(client);
    };
    const connecting = (pool.connect as unknown as Connect<Client>).call(pool, (error, client) => {
      if (client === undefined) reject(error ?? new Error('the pool gave no client'));
      else listen(client);
    });
    // A pool that knows promises only.
    connecting?.then(listen, reject);
  });
}

type Connect<Client> = (done: (error: Error | undefined, client: Client | undefined) => void) => Promise<Client> | undefined;

/** For a client that went back to its pool: from there on pg handles its errors. */
export function stopListening(client: PgClient): void {
  (client as { off?(event: 'error', listener: () => void): void }).off?.('error', ignore);
}

function ignore(): void {
  // An error of the connection: its next statement fails. A late answer: no caller waits for it.
}
