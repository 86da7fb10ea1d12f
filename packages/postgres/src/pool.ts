/** Runs transactions over a pool of `pg`: one message before the work, and one after. */
import { withinBounds } from '@paylink/core/internal';
import type { RunResult } from '@paylink/payments';
import type { PgClient, PgPool, PoolOptions } from './databases.js';
import { endSql, parseClaim, type RunSql } from './sql.js';
import {
  explained,
  finishFailure,
  notCredited,
  QUERY_TIMEOUT,
  Statements,
  type Transactions,
  type Warnings,
  type Work,
} from './transaction.js';

/** Counters of `pg`'s Pool. Other pools may lack them. */
interface PoolState {
  readonly options?: { readonly max?: unknown };
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  on?(event: 'connect', listener: (client: PgClient) => void): unknown;
}

/** One result of a message in the simple protocol. */
interface Result {
  readonly command: string;
  readonly rows: readonly unknown[];
}

export class PoolTransactions<Client extends PgClient, Tx> implements Transactions<Tx> {
  readonly #pool: PgPool & PoolState;
  readonly #begin: string;
  readonly #makeTx: (client: Client) => Tx;
  readonly #warnings: Warnings;
  readonly #places: Places;
  readonly #max: number;

  constructor(pool: PgPool, { isolation, tx }: PoolOptions<Client, Tx>, warnings: Warnings) {
    this.#pool = pool;
    this.#begin = isolation === undefined ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${isolation}`;
    this.#makeTx = tx ?? ((client) => client as unknown as Tx);
    this.#warnings = warnings;
    // Without a listener, the error of a checked-out client ends the process. The error can arrive
    // in the packet that makes the client ready.
    this.#pool.on?.('connect', (client) => client.on('error', ignore));
    const max = this.#pool.options?.max;
    this.#max = typeof max === 'number' ? max : Infinity;
    // Leaves one connection free for reads, and for code that needs a connection during its
    // transaction.
    this.#places = new Places(Math.max(1, this.#max - 1));
  }

  async query(text: string, milliseconds = QUERY_TIMEOUT): Promise<readonly unknown[]> {
    const running = this.#pool.query({ text, query_timeout: milliseconds });
    const reason = (): Error =>
      new Error(this.#exhaustion() ?? `the database did not answer in ${milliseconds} ms`);
    try {
      return ((await withinBounds(running, { milliseconds, reason })) as Result).rows;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async execute(statements: readonly string[]): Promise<void> {
    // A message with several statements is one transaction.
    await this.#pool.query({ text: statements.join(';\n') });
  }

  /** Returns a message if no connection is free. */
  #exhaustion(): string | undefined {
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = this.#pool;
    if (totalCount < this.#max || idleCount > 0) return undefined;
    return (
      `the pool is exhausted: all ${this.#max} connections are in use, ${this.#places.taken} of ` +
      `them by transactions of the store, and ${waitingCount} requests wait for one`
    );
  }

  async run(sql: RunSql, work: Work<Tx>, signal: AbortSignal): Promise<RunResult> {
    await this.#places.enter(signal);
    try {
      const connection = await this.#connect(signal);
      try {
        return await this.#runOn(connection, sql, work, signal);
      } finally {
        connection.release();
      }
    } finally {
      this.#places.leave();
    }
  }

  async #runOn(
    connection: Connection,
    { claim, finish }: RunSql,
    work: Work<Tx>,
    signal: AbortSignal,
  ): Promise<RunResult> {
    signal.throwIfAborted();
    const statements = new Statements((...values) => connection.query(...values), this.#warnings);
    /** The number of the transaction while the work may still be running on the server. */
    let working: string | undefined;

    const attempt = async (): Promise<RunResult> => {
      const begun = await connection.send(`${this.#begin}; ${claim}`);
      const claimed = parseClaim(begun.at(-1)!.rows);
      if (typeof claimed === 'string') {
        await connection.send('ROLLBACK');
        return claimed;
      }
      working = claimed.transaction;
      const tx = this.#makeTx({ query: statements.query } as unknown as Client);
      await statements.during(() => work(tx), signal);
      working = undefined;
      const ending = [...finish(claimed), 'COMMIT'].join('; ');
      const ended = await connection.send(ending, finishFailure);
      const answer = ended.at(-1)?.command;
      if (answer !== 'COMMIT') throw notCredited(`the server answered COMMIT with ${answer}`);
      return 'done';
    };
    const rollBack = async (error: unknown): Promise<never> => {
      await connection.send('ROLLBACK').catch(() => connection.destroy());
      throw error;
    };
    const abort = (): void => {
      const exhaustion = this.#exhaustion();
      if (exhaustion !== undefined && !statements.used) this.#warnings.starved(exhaustion);
      connection.destroy();
      // During a statement the server ignores its socket and keeps the lock, so another connection
      // ends it.
      if (working !== undefined) this.query(endSql('terminate', working)).catch(ignore);
    };

    signal.addEventListener('abort', abort);
    try {
      return await withinBounds(attempt().catch(rollBack), { signals: [signal] });
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /**
   * Returns a connection, and returns a client that arrives after the abort to the pool.
   *
   * @throws the signal's reason
   */
  async #connect(signal: AbortSignal): Promise<Connection> {
    const connecting = this.#pool.connect().then((client) => new Connection(client));
    try {
      return await withinBounds(connecting, { signals: [signal] });
    } catch (error) {
      connecting.then((connection) => connection.release(), ignore);
      throw signal.aborted ? error : this.#failed(error);
    }
  }

  #failed(error: unknown): unknown {
    const isLate = String(error).includes('timeout exceeded when trying to connect');
    const reason = isLate ? this.#exhaustion() : undefined;
    return reason === undefined ? explained(error) : new Error(reason, { cause: error });
  }
}

/** The members of a client that the store uses. */
interface AnyClient {
  query(...values: unknown[]): unknown;
  release(error?: boolean): void;
  off?(event: 'error', listener: () => void): unknown;
  /** Exists on `pg`'s client. */
  readonly connection?: { readonly stream?: { destroy?(): void } };
}

/** A pool's client for one transaction. */
class Connection {
  readonly #client: AnyClient;
  #isOpen = true;

  constructor(client: PgClient) {
    this.#client = client;
    client.on('error', ignore);
  }

  query(...values: unknown[]): unknown {
    if (!this.#isOpen) return Promise.reject(new Error('the connection is closed'));
    return this.#client.query(...values);
  }

  /** Sends a message with several statements. */
  async send(text: string, failure = explained): Promise<readonly Result[]> {
    try {
      const answer = await this.query(text);
      return (Array.isArray(answer) ? answer : [answer]) as readonly Result[];
    } catch (error) {
      throw failure(error);
    }
  }

  release(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#client.release();
    // The pool handles the client's errors from here on.
    this.#client.off?.('error', ignore);
  }

  /** Closes the socket, so that the server rolls back, and removes the client from the pool. */
  destroy(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#client.release(true);
    // The pool only sends a goodbye, which a frozen server or network never answers.
    this.#client.connection?.stream?.destroy?.();
  }
}

/** Limits the number of connections in transactions of the store. */
class Places {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws the signal's reason */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.taken < this.#limit) {
      this.taken += 1;
      return;
    }
    let proceed!: () => void;
    const proceeding = new Promise<void>((resolve) => this.#waiting.add((proceed = resolve)));
    await withinBounds(proceeding, { signals: [signal] }).catch((reason: unknown) => {
      // A waiter that is gone from the set got a place at the moment of the abort.
      if (!this.#waiting.delete(proceed)) this.leave();
      throw reason;
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.taken -= 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

function ignore(): void {
  // Ignores connection errors, because the next statement fails anyway, and answers that arrive
  // late.
}
