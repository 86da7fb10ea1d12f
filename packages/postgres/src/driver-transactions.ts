import { ConfigurationError, type RunResult } from '@paylink/core';
import type { Aborts } from './aborts.js';
import { explained, type Database } from './database.js';
import { guardTransaction, lend } from './guards.js';
import { WrittenRows, type Probe, type Warnings } from './handler-writes.js';
import { readClaim, readRefusal, type RunStatements } from './marks.js';
import type { RunSql, TransactionalDatabase } from './options.js';

/** Transactions that the driver begins and ends: PGlite's, or an ORM's. */
export class DriverTransactions<Tx extends object> implements Database<Tx> {
  readonly #database: TransactionalDatabase<Tx>;
  readonly #query: RunSql<Tx> | undefined;
  readonly #warnings: Warnings;

  constructor(database: TransactionalDatabase<Tx>, query: RunSql<Tx> | undefined, warnings: Warnings) {
    this.#database = database;
    this.#query = query;
    this.#warnings = warnings;
  }

  async query(sql: string): Promise<readonly unknown[]> {
    if (this.#query !== undefined) return explained(this.#query(undefined, sql));
    if (runnerOf(this.#database) !== undefined) return explained(runBy(this.#database, sql));
    let rows: readonly unknown[] = [];
    await explained(this.#database.transaction(async (tx) => void (rows = await runBy(tx, sql))));
    return rows;
  }

  async execute(statements: readonly string[]): Promise<void> {
    await this.#database.transaction(async (tx) => {
      for (const statement of statements) await this.#send(tx, statement);
    });
  }

  async run(statements: RunStatements, work: (tx: Tx) => Promise<void>, aborts: Aborts): Promise<RunResult> {
    let result: RunResult | undefined;
    await this.#begin(aborts, async (tx) => {
      result = await this.#runIn(tx, statements, work, aborts);
    });
    if (result === 'duplicate' || result === 'in_progress') return result;
    // An ORM may resolve although the server rolled back: what counts is that the mark can be read.
    if (result === 'done' && (await this.query(statements.isDone())).length > 0) return result;
    throw new Error('the transaction ended without a commit: `transaction` resolved, and the mark is not there');
  }

  /** An abort ends the wait for a turn; a turn that comes later passes without any statement of the store. */
  async #begin(aborts: Aborts, work: (tx: Tx) => Promise<void>): Promise<void> {
    let begun!: () => void;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    const running = this.#database.transaction(async (tx) => {
      aborts.throwIfAborted();
      begun();
      await work(tx);
    });
    await aborts.race(Promise.race([beginning, running]));
    await running;
  }

  async #runIn(tx: Tx, statements: RunStatements, work: (tx: Tx) => Promise<void>, aborts: Aborts): Promise<RunResult> {
    const transaction = readClaim(await this.#ask(tx, statements.claim()));
    if (transaction === undefined) return readRefusal(await this.#ask(tx, statements.isDone()));
    const rows = new WrittenRows();
    await lend(
      guardTransaction(tx, rows, () => this.#warnings.lateUse()),
      work,
      aborts,
    );
    if (!rows.used) this.#warnings.unused(false);
    if (rows.nothing) this.#warnings.nothingWritten(rows, await this.#probe(tx, statements.probe()));
    await this.#ask(tx, statements.stillIn(transaction));
    aborts.throwIfAborted();
    return 'done';
  }

  async #probe(tx: Tx, statements: readonly string[]): Promise<Probe> {
    let probe!: Probe;
    for (const statement of statements) {
      const [row] = await this.#ask(tx, statement);
      if (row !== undefined) probe = row as Probe;
    }
    return probe;
  }

  #ask(tx: Tx, sql: string): Promise<readonly unknown[]> {
    return explained(this.#send(tx, sql));
  }

  #send(tx: Tx, sql: string): Promise<readonly unknown[]> {
    return this.#query === undefined ? runBy(tx, sql) : this.#query(tx, sql);
  }
}

type Runner = (sql: string) => Promise<unknown>;

/** The methods of PGlite and pg, Drizzle, and Prisma that run a SQL text. */
const RUNNERS = ['query', 'execute', '$queryRawUnsafe'];

function runnerOf(target: object): Runner | undefined {
  const members = target as Record<string, unknown>;
  const name = RUNNERS.find((candidate) => typeof members[candidate] === 'function');
  return name === undefined ? undefined : (sql) => (members[name] as Runner).call(target, sql);
}

async function runBy(target: object, sql: string): Promise<readonly unknown[]> {
  const run = runnerOf(target);
  if (run === undefined) {
    throw new ConfigurationError(
      'query',
      'is missing: give postgresStore `query: async (tx, sql) => rows`, which runs SQL in a transaction of this database',
    );
  }
  const answer = await run(sql);
  const rows = Array.isArray(answer) ? answer : (answer as { readonly rows?: unknown } | undefined)?.rows;
  if (!Array.isArray(rows))
    throw new ConfigurationError(
      'query',
      'is missing: this database gives no rows for SQL. Give postgresStore `query: async (tx, sql) => rows`',
    );
  return rows as readonly unknown[];
}
