import type { RunResult } from '@paylink/core';

/** The statements of one run. */
export interface RunStatements {
  readonly claim: string;
  /** Fails unless it runs in the transaction that wrote the mark. */
  readonly stillIn: (transaction: string) => string;
  readonly isDone: () => string;
  /** Statements to run in turn; one of them gives a `Probe`. */
  readonly probe: () => readonly string[];
}

/** What a store needs of a database. */
export interface Database<Tx> {
  /** Runs one statement outside of a transaction and gives its rows. */
  query(sql: string): Promise<readonly unknown[]>;
  /** Runs statements in one transaction. */
  execute(statements: readonly string[]): Promise<void>;
  /** Claims, works and commits in one transaction, once. After an abort nothing of `work` takes effect. */
  run(statements: RunStatements, work: (tx: Tx) => Promise<void>, signal: AbortSignal): Promise<RunResult>;
  /** Why a query gets no answer, where the database's own side is not the reason. */
  noAnswerReason?(): string | undefined;
  /** Changes with each lost connection; undefined where that is not seen. */
  connectionsLost?(): number | undefined;
}

/** The number of the transaction in which the mark was written; undefined where the mark is there or another run holds a lock. */
export function readClaim(rows: readonly unknown[] | undefined): string | undefined {
  if (rows === undefined) throw new TypeError('the database gave no rows: `query` must give the rows of the statement');
  return (rows[0] as { readonly transaction: string } | undefined)?.transaction;
}

/** Why a claim wrote no mark. */
export function readRefusal(rowsOfDone: readonly unknown[]): 'duplicate' | 'in_progress' {
  return rowsOfDone.length > 0 ? 'duplicate' : 'in_progress';
}
