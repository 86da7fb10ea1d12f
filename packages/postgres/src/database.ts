/** What the store needs of a database, and what the errors of its server mean. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RunResult } from '@paylink/core';
import type { Aborts } from './aborts.js';
import type { RunStatements } from './marks.js';

/** What a store needs of a database. */
export interface Database<Tx> {
  /** Runs one statement outside of a transaction and gives its rows; in `milliseconds` at most, where the driver takes a limit. */
  query(sql: string, milliseconds?: number): Promise<readonly unknown[]>;
  /** Runs statements in one transaction. */
  execute(statements: readonly string[]): Promise<void>;
  /** Claims, works and commits in one transaction, once. After an abort nothing of `work` takes effect. */
  run(statements: RunStatements, work: (tx: Tx) => Promise<void>, aborts: Aborts): Promise<RunResult>;
  /** Why a query gets no answer, where the database's own side is not the reason. */
  noAnswerReason?(): string | undefined;
  /** Changes with each lost connection; undefined where that is not seen. */
  connectionsLost?(): number | undefined;
}

interface Wrapper {
  /** A SQLSTATE in errors of `pg` and PGlite; Prisma has codes of its own here. */
  readonly code?: unknown;
  /** The SQLSTATE in Prisma's adapters. */
  readonly originalCode?: unknown;
  readonly cause?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown } | null;
}

// An error can be its own cause.
const DEEPEST = 8;

/** The codes of an error and of its causes: handlers and ORMs wrap the server's error in one of their own. */
export function sqlStates(error: unknown): readonly unknown[] {
  const codes: unknown[] = [];
  let next = error;
  for (let depth = 0; depth < DEEPEST && typeof next === 'object' && next !== null; depth += 1) {
    const { code, originalCode, cause, meta } = next as Wrapper;
    codes.push(originalCode ?? code);
    next = cause ?? meta?.driverAdapterError;
  }
  return codes;
}

const ATTEMPTS = 3;
const RUN_AGAIN: readonly unknown[] = ['40001', '40P01'];

/**
 * Runs `attempt` again where the server has rolled it back in favour of another transaction (serialisation failure, deadlock):
 * three times at most in all, with a short random wait between.
 *
 * @throws what the last attempt threw, or the reason of the abort.
 */
export async function withRetries<T>(aborts: Aborts, attempt: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      const again = sqlStates(error).some((state) => RUN_AGAIN.includes(state));
      if (number === ATTEMPTS || aborts.aborted || !again) throw error;
    }
    await aborts.race(pause(Math.random() * 25 * number));
  }
}

const MISSING = (what: string): string =>
  `the ${what} of the marks is missing: call \`await store.migrate()\` once at start, or run the SQL of migrationSql()`;

const ADVICE = new Map<unknown, string>([
  ['42P01', MISSING('table')],
  ['3F000', MISSING('schema')],
  ['42883', 'the server lacks a function that the store uses: it needs PostgreSQL 13 or newer'],
  [
    '25P02',
    'nothing was committed: a statement of the handler failed and the handler went on, so PostgreSQL had given the transaction up; ' +
      'let the error through, or set a SAVEPOINT before a statement that may fail',
  ],
  [
    '22012',
    'the handler ended the transaction of the store: no BEGIN, COMMIT or ROLLBACK through `tx`, only SAVEPOINT and ROLLBACK TO',
  ],
]);

/** Adds to an error of the store's own statements what to do about it. The driver's error is the cause. */
export async function explained<T>(running: Promise<T>): Promise<T> {
  try {
    return await running;
  } catch (error) {
    throw withAdvice(error);
  }
}

/** The error itself, where nothing more is known about it. */
export function withAdvice(error: unknown): unknown {
  const advice = sqlStates(error)
    .map((state) => ADVICE.get(state))
    .find((text) => text !== undefined);
  return advice === undefined ? error : new Error(advice, { cause: error });
}
