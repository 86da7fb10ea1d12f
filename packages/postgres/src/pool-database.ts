import type { RunResult } from '@paylink/core';
import { readClaim, readRefusal, type Database, type RunStatements } from './database.js';
import type { PgClient, PgPool } from './databases.js';
import { guardClient } from './guarded-client.js';
import { lend } from './lending.js';
import type { PoolOptions } from './options.js';
import { PoolConnection } from './pool-connection.js';
import { explained } from './store-error.js';

/** Milliseconds for a read outside of a transaction, which no signal ends; a pool without a limit would be blocked for ever. */
const READ_TIMEOUT = 10_000;

/** The transactions of `pg`: the store begins and ends them by itself, two messages around the handler's own. */
export class PoolDatabase<Client extends PgClient, Tx> implements Database<Tx> {
  readonly #pool: PgPool;
  readonly #begin: string;
  readonly #txOf: (client: Client) => Tx;

  constructor(pool: PgPool, { isolation, tx }: PoolOptions<Client, Tx>) {
    this.#pool = pool;
    this.#begin = isolation === undefined ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${isolation.toUpperCase()}`;
    this.#txOf = tx ?? ((client) => client as unknown as Tx);
  }

  async query(text: string): Promise<readonly unknown[]> {
    const query = { text, query_timeout: READ_TIMEOUT };
    const { rows } = (await this.#pool.query(query)) as { readonly rows: readonly unknown[] };
    return rows;
  }

  async execute(statements: readonly string[]): Promise<void> {
    // One message of several statements is one transaction.
    await this.#pool.query({ text: statements.join(';\n') });
  }

  async run(statements: RunStatements, work: (tx: Tx) => Promise<void>, signal: AbortSignal): Promise<RunResult> {
    const connection = await PoolConnection.take<Client>(this.#pool, signal);
    try {
      const [, claimed] = await explained(connection.query(`${this.#begin}; ${statements.claim}`));
      const transaction = readClaim(claimed?.rows);
      if (transaction === undefined) {
        const [done] = await connection.query(`${statements.isDone}; ROLLBACK`);
        return readRefusal(done!.rows);
      }
      connection.transaction = transaction;
      await lend(guardClient(connection.client), (client) => work(this.#txOf(client)), signal);
      await explained(connection.commit(statements.stillIn(transaction)));
      return 'done';
    } catch (error) {
      await connection.rollBack();
      throw error;
    } finally {
      connection.end();
    }
  }
}
