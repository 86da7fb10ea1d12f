import { ConfigurationError, type RunResult } from '@paylink/core';
import { untilAborted } from './aborting.js';
import { readClaim, readRefusal, type Database, type RunStatements } from './database.js';
import type { RunSql, TransactionalDatabase } from './databases.js';
import { guard } from './guard.js';
import { lend } from './lending.js';
import { explained } from './store-error.js';

/** Transactions that somebody else begins and ends: PGlite's, or an ORM's. */
export class ForeignDatabase<Tx extends object> implements Database<Tx> {
  readonly #database: TransactionalDatabase<Tx>;
  readonly #query: RunSql<Tx> | undefined;

  constructor(database: TransactionalDatabase<Tx>, query: RunSql<Tx> | undefined) {
    this.#database = database;
    this.#query = query;
  }

  async query(sql: string): Promise<readonly unknown[]> {
    if (this.#query !== undefined) return this.#query(undefined, sql);
    if (runnerOf(this.#database) !== undefined) return runBy(this.#database, sql);
    let rows: readonly unknown[] = [];
    await this.#database.transaction(async (tx) => {
      rows = await runBy(tx, sql);
    });
    return rows;
  }

  async execute(statements: readonly string[]): Promise<void> {
    await this.#database.transaction(async (tx) => {
      for (const statement of statements) await this.#ask(tx, statement);
    });
  }

  async run(statements: RunStatements, work: (tx: Tx) => Promise<void>, signal: AbortSignal): Promise<RunResult> {
    let result: RunResult | undefined;
    await this.#begin(signal, async (tx) => {
      result = await this.#runIn(tx, statements, work, signal);
    });
    if (result === 'duplicate' || result === 'in_progress') return result;
    // Whoever commits may take ROLLBACK for an answer as well: what counts is that the mark can be read.
    if (result === 'done' && (await this.query(statements.isDone)).length > 0) return result;
    throw new Error('the transaction ended without a commit: `transaction` resolved, and the mark is not there');
  }

  /** An abort ends the waiting for a turn, and when the turn comes it is passed on without any statement of ours. */
  async #begin(signal: AbortSignal, work: (tx: Tx) => Promise<void>): Promise<void> {
    signal.throwIfAborted();
    let begun!: () => void;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    const running = this.#database.transaction(async (tx) => {
      signal.throwIfAborted();
      begun();
      await work(tx);
    });
    await untilAborted(signal, Promise.race([beginning, running]));
    await running;
  }

  async #runIn(tx: Tx, statements: RunStatements, work: (tx: Tx) => Promise<void>, signal: AbortSignal): Promise<RunResult> {
    const transaction = readClaim(await explained(this.#ask(tx, statements.claim)));
    if (transaction === undefined) return readRefusal(await this.#ask(tx, statements.isDone));
    await lend(guard(tx), work, signal);
    await explained(this.#ask(tx, statements.stillIn(transaction)));
    signal.throwIfAborted();
    return 'done';
  }

  #ask(tx: Tx, sql: string): Promise<readonly unknown[]> {
    return this.#query === undefined ? runBy(tx, sql) : this.#query(tx, sql);
  }
}

type Runner = (sql: string) => Promise<unknown>;

/** What PGlite and pg, Drizzle, and Prisma call it to run SQL that is a text. */
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
      'is missing: the transactions of this database have no way to run SQL that the store knows',
    );
  }
  const answer = await run(sql);
  const rows = Array.isArray(answer) ? answer : (answer as { readonly rows?: unknown } | undefined)?.rows;
  if (!Array.isArray(rows)) throw new ConfigurationError('query', `is missing: what this database gives for SQL has no rows`);
  return rows as readonly unknown[];
}
