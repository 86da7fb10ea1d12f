/** Runs the store on transactions that a driver or an ORM begins and ends. */
import { check, withinBounds } from '@paylink/core/internal';
import type { RunResult } from '@paylink/payments';
import type { TransactionalDatabase } from './databases.js';
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

/** Milliseconds for aborted work to end before the store logs an error. */
const PATIENCE = 2_000;
/** Assigns a number. Two statements return the same number only in one transaction. */
const NUMBER = 'SELECT pg_current_xact_id()::text AS number';

/** After this error PostgreSQL releases the turn, undoes the timeout, and accepts only ROLLBACK. */
const FAIL = 'SELECT 1 / 0';

type Rows = readonly unknown[];

export class DriverTransactions<Tx extends object> implements Transactions<Tx> {
  readonly #driver: TransactionalDatabase<Tx>;
  readonly #hasQuery: boolean;
  readonly #warnings: Warnings;

  /** @param hasQuery whether `tx` is the driver's own. The work then gets only its `query`. */
  constructor(driver: TransactionalDatabase<Tx>, hasQuery: boolean, warnings: Warnings) {
    this.#driver = driver;
    this.#hasQuery = hasQuery;
    this.#warnings = warnings;
  }

  query(sql: string, milliseconds = QUERY_TIMEOUT): Promise<Rows> {
    return withinBounds(this.#send(undefined, sql), { milliseconds });
  }

  async execute(statements: readonly string[]): Promise<void> {
    await this.#driver.transaction(async (tx) => {
      const [first, second] = [await this.#send(tx, NUMBER), await this.#send(tx, NUMBER)];
      const [before, after] = [first, second].map((rows) => (rows[0] as { number: string }).number);
      const problem = 'must run its statements in one transaction, but used two';
      check(before === after, 'transaction', problem);
      for (const statement of statements) await this.#send(tx, statement);
    });
  }

  async run(sql: RunSql, work: Work<Tx>, signal: AbortSignal): Promise<RunResult> {
    let result: RunResult | undefined;
    let failure: { readonly error: unknown } | undefined;
    const ending = this.#driver.transaction(async (tx) => {
      [result, failure] = [undefined, undefined];
      try {
        signal.throwIfAborted();
        result = await this.#runIn(tx, sql, work, signal);
      } catch (error) {
        failure = { error };
        throw error;
      }
    });
    try {
      await withinBounds(ending, { signals: [signal] });
    } catch (error) {
      // An ORM may wrap the error, or throw its own error if the rollback fails too.
      throw signal.aborted ? signal.reason : (failure ?? { error }).error;
    }
    if (result === 'duplicate' || result === 'in_progress') return result;
    // An ORM may resolve although the server rolled back, so the store reads the mark.
    if (result === 'done' && (await this.query(sql.findMark)).length > 0) return result;
    throw notCredited('`transaction` resolved, but the mark is missing', failure?.error);
  }

  async #runIn(tx: Tx, sql: RunSql, work: Work<Tx>, signal: AbortSignal): Promise<RunResult> {
    const claimed = parseClaim(await this.#send(tx, sql.claim));
    if (typeof claimed === 'string') return claimed;
    let statements: Statements | undefined;
    if (this.#hasQuery) {
      const driver = tx as unknown as { query(...values: unknown[]): unknown };
      statements = new Statements((...values) => driver.query(...values), this.#warnings);
      const handle = { query: statements.query } as unknown as Tx;
      await statements.during(() => work(handle), signal);
    } else await this.#work(tx, work, signal, claimed.transaction);
    try {
      for (const statement of sql.finish(claimed)) await this.#driver.query(tx, statement);
    } catch (error) {
      throw finishFailure(error);
    }
    statements?.throwIfUnawaited();
    signal.throwIfAborted();
    return 'done';
  }

  /**
   * Passes the ORM's own transaction to the work. On abort, makes the transaction fail and keeps it
   * until the work ends. If the ORM got the connection back earlier, a late statement of the work
   * would commit alone, and the next delivery would credit the order again.
   */
  async #work(tx: Tx, work: Work<Tx>, signal: AbortSignal, transaction: string): Promise<void> {
    const working = work(tx);
    try {
      await withinBounds(working, { signals: [signal] });
    } catch (error) {
      if (signal.aborted) {
        this.query(endSql('cancel', transaction)).catch(() => undefined);
        this.#send(tx, FAIL).catch(() => undefined);
        const timer = setTimeout(() => this.#warnings.held(), PATIENCE).unref();
        await working.catch(() => undefined);
        clearTimeout(timer);
      }
      throw error;
    }
  }

  async #send(tx: Tx | undefined, sql: string): Promise<Rows> {
    let rows: Rows;
    try {
      rows = await this.#driver.query(tx, sql);
    } catch (error) {
      throw explained(error);
    }
    check(Array.isArray(rows), 'query', 'must return the rows of its statement, as an array');
    return rows as Rows;
  }
}
