import type { RunResult } from '@paylink/core';
import type { Aborts } from './aborts.js';
import { Claims } from './claims.js';
import type { Database } from './database.js';
import { guardClient, lend } from './guards.js';
import { readAnswers, WrittenRows, type Probe, type Warnings } from './handler-writes.js';
import { readClaim, readRefusal, type RunStatements } from './marks.js';
import type { PgClient, PgPool, PoolOptions } from './options.js';
import { PoolConnection, PoolPlaces } from './pool-connection.js';

/** Milliseconds for a read outside of a transaction, which no signal ends; a pool waits without a limit by default. */
const READ_TIMEOUT = 10_000;

/** The transactions of `pg`: the store begins and ends them, with two messages around the handler's own. */
export class PoolTransactions<Client extends PgClient, Tx> implements Database<Tx> {
  readonly #pool: PgPool;
  readonly #places: PoolPlaces;
  readonly #claims: Claims;
  readonly #txOf: (client: Client) => Tx;
  readonly #warnings: Warnings;

  constructor(pool: PgPool, { isolation, prepare = true, tx }: PoolOptions<Client, Tx>, warnings: Warnings) {
    this.#pool = pool;
    this.#places = PoolPlaces.of(pool);
    const begin = isolation === undefined ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${isolation.toUpperCase()}`;
    this.#claims = new Claims(begin, prepare);
    this.#txOf = tx ?? ((client) => client as unknown as Tx);
    this.#warnings = warnings;
  }

  async query(text: string, milliseconds = READ_TIMEOUT): Promise<readonly unknown[]> {
    const query = { text, query_timeout: milliseconds };
    try {
      const { rows } = (await this.#pool.query(query)) as { readonly rows: readonly unknown[] };
      return rows;
    } catch (error) {
      throw this.#places.failed(error);
    }
  }

  async execute(statements: readonly string[]): Promise<void> {
    // One message of several statements is one transaction.
    await this.#pool.query({ text: statements.join(';\n') });
  }

  noAnswerReason(): string | undefined {
    return this.#places.exhaustion();
  }

  connectionsLost(): number | undefined {
    return this.#places.lost;
  }

  async run(statements: RunStatements, work: (tx: Tx) => Promise<void>, aborts: Aborts): Promise<RunResult> {
    const connection = await PoolConnection.take<Client>(this.#pool, aborts);
    try {
      return await this.#runOn(connection, statements, work, aborts);
    } catch (error) {
      await connection.rollBack();
      throw error;
    } finally {
      connection.end();
    }
  }

  async #runOn(
    connection: PoolConnection<Client>,
    statements: RunStatements,
    work: (tx: Tx) => Promise<void>,
    aborts: Aborts,
  ): Promise<RunResult> {
    const { isDone, probe, stillIn } = statements;
    const transaction = readClaim((await this.#claims.send(connection, statements)).at(-1)?.rows);
    if (transaction === undefined) {
      const [done] = await connection.query(`${isDone()}; ROLLBACK`);
      return readRefusal(done!.rows);
    }
    connection.transaction = transaction;
    const rows = await this.#work(connection, work, aborts);
    if (rows.nothing) {
      const answers = await connection.query(probe().join('; '));
      this.#warnings.nothingWritten(rows, answers.find((answer) => answer.rows.length > 0)!.rows[0] as Probe);
    }
    await connection.commit(rows.staysInTransaction ? undefined : stillIn(transaction));
    return 'done';
  }

  /** @throws what `work` throws, or the signal's reason */
  async #work(connection: PoolConnection<Client>, work: (tx: Tx) => Promise<void>, aborts: Aborts): Promise<WrittenRows> {
    const { client } = connection;
    const rows = new WrittenRows();
    const stopReading = readAnswers(client, rows);
    try {
      await lend(
        guardClient(client, rows, () => this.#warnings.lateUse()),
        (guarded) => work(this.#txOf(guarded)),
        aborts,
      );
      // The answer to a statement that the handler did not await comes before that of the next.
      if (rows.pending > 0) await connection.query('SELECT WHERE false');
    } finally {
      stopReading();
      if (connection.starvedOthers && !rows.used) this.#leaveOneForHandlers(true);
    }
    if (!rows.used) this.#leaveOneForHandlers(false);
    return rows;
  }

  /** A handler that writes through the pool needs a connection besides those that transactions hold. */
  #leaveOneForHandlers(starved: boolean): void {
    const limit = this.#places.leaveOne();
    const consequence =
      limit === undefined ? '' : `. From now on at most ${limit} of the pool's connections are in transactions of the store`;
    this.#warnings.unused(starved, consequence);
  }
}
