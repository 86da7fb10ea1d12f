/** The contract of a transaction, the statements inside it, and the causes of failures. */
import { WebhookError, type Logger } from '@paylink/core';
import { withinBounds } from '@paylink/core/internal';
import type { RunResult } from '@paylink/payments';
import type { RunSql } from './sql.js';

/** Milliseconds for a statement outside a transaction, including the wait for a connection. */
export const QUERY_TIMEOUT = 10_000;

export type Work<Tx> = (tx: Tx) => Promise<void>;

/** The transactions of one database. */
export interface Transactions<Tx> {
  /** Runs one statement outside a transaction and returns its rows. Default limit: 10 s. */
  query(sql: string, milliseconds?: number): Promise<readonly unknown[]>;
  /** Runs statements in one transaction. Fails if the database cannot hold one. */
  execute(statements: readonly string[]): Promise<void>;
  /**
   * Claims, works, marks and commits in one transaction, once. After an abort no statement takes
   * effect, except a COMMIT that was already sent.
   *
   * @throws MarkConflict if the mark existed at the end
   */
  run(sql: RunSql, work: Work<Tx>, signal: AbortSignal): Promise<RunResult>;
}

type Query = (...values: unknown[]) => unknown;

const UNAWAITED =
  'Await every statement: `for (const item of items) await tx.query(…)` instead of forEach';

/** Logs faults of the merchant's code. */
export class Warnings {
  readonly #logger: Logger;
  #warnedUnused = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  lateStatement(): void {
    this.#logger.error(
      '[paylink] your code called tx.query() after it had returned, so the store refused the ' +
        `statement. If the event is done, its credit lacks that statement. ${UNAWAITED}`,
    );
  }

  held(): void {
    this.#logger.error(
      '[paylink] your code continues after its time limit, and keeps a connection of the pool ' +
        'until it ends. Pass `signal` to everything that it awaits',
    );
  }

  starved(exhaustion: string): void {
    this.#logger.error(`[paylink] ${exhaustion}. Write through \`tx\`, never through the pool`);
  }

  /** Warns, once per store, that the credit sent no statement through `tx`. */
  unused(): void {
    if (this.#warnedUnused) return;
    this.#warnedUnused = true;
    this.#logger.warn(
      '[paylink] your code sent no statement through `tx`, so its writes are not in ' +
        'the transaction of the mark: a crash in between loses or repeats the writes. ' +
        'Write through `tx`, never through the pool',
    );
  }
}

/** The statements of one run. Accepts them only while its work runs. */
export class Statements {
  /** True once the work has sent a statement. */
  used = false;
  #running = 0;
  #late = 0;
  #closed: { readonly reason: unknown } | undefined;
  readonly #send: Query;
  readonly #warnings: Warnings;

  constructor(send: Query, warnings: Warnings) {
    this.#send = send;
    this.#warnings = warnings;
  }

  /** The `query` of `tx`. Bound, so that code can pass the function on alone. */
  readonly query = (...values: unknown[]): unknown => {
    if (this.#closed !== undefined) return this.#refuse(this.#closed.reason);
    const [query] = values as [{ readonly submit?: unknown; readonly callback?: unknown }?];
    const callbacks = [query?.submit, query?.callback, ...values];
    if (callbacks.some((value) => typeof value === 'function')) {
      throw new TypeError(
        'tx.query() takes no callback, cursor or stream, because the store must see the end of ' +
          'each statement. Await its promise',
      );
    }
    this.used = true;
    const answer = this.#send(...values);
    this.#running += 1;
    const end = (): void => void (this.#running -= 1);
    Promise.resolve(answer).then(end, end);
    return answer;
  };

  /**
   * Runs the work, and rejects all statements after its end.
   *
   * @throws the error of `work`, or WebhookError `not_credited` if a statement outlives the work
   */
  async during(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await withinBounds(work(), { signals: [signal] });
      this.#closed = { reason: undefined };
    } catch (error) {
      this.#closed = { reason: error ?? new Error('the work failed') };
      throw error;
    }
    const running = this.#running;
    // Waits, because code that nothing awaits may be about to send a statement.
    await new Promise(setImmediate);
    this.throwIfUnawaited(running);
    if (!this.used) this.#warnings.unused();
  }

  /** @throws WebhookError `not_credited` if statements were running or came after the work */
  throwIfUnawaited(running = 0): void {
    const count = running + this.#late;
    if (count === 0) return;
    const problem = `your code returned before ${count} of its statements had ended`;
    throw notCredited(`${problem}. ${UNAWAITED}`);
  }

  #refuse(reason: unknown): Promise<never> {
    if (reason !== undefined) {
      const problem = 'the transaction is over, so tx.query() rejects statements';
      return Promise.reject(new Error(problem, { cause: reason }));
    }
    this.#late += 1;
    this.#warnings.lateStatement();
    // The credit does not await this promise. An unhandled rejection would end the process with all
    // other deliveries, so the statement never settles.
    return new Promise(() => undefined);
  }
}

export function notCredited(problem: string, cause?: unknown): WebhookError {
  const message = `nothing was committed: ${problem}`;
  return new WebhookError('not_credited', { status: 503, message, cause });
}

/** Another run wrote the mark while this run worked. Nothing was committed. */
export class MarkConflict extends Error {}

/** Properties in which drivers and ORMs store the server's error. */
const WRAPPED = ['cause', 'driverError', 'original', 'meta', 'driverAdapterError'];
/** A limit, because an error can be its own cause. */
const DEEPEST = 5;

/** Returns the codes of an error and of the errors inside it: SQLSTATEs and codes of ORMs. */
export function codesIn(error: unknown, depth = 0): readonly string[] {
  if (typeof error !== 'object' || error === null || depth === DEEPEST) return [];
  try {
    const properties = error as Readonly<Record<string, unknown>>;
    const inner = WRAPPED.flatMap((name) => codesIn(properties[name], depth + 1));
    const codes = [properties['code'], properties['originalCode'], ...inner];
    return codes.filter((code) => typeof code === 'string');
  } catch {
    return []; // a getter or a Proxy threw
  }
}

/** Serialisation failure, deadlock, and Prisma's code for both. */
const CONFLICTS = ['40001', '40P01', 'P2034'];

export function isWorthRetrying(error: unknown): boolean {
  return codesIn(error).some((code) => CONFLICTS.includes(code));
}

const MIGRATE = 'call `await store.migrate()` once at deployment, or run the SQL of migrationSql()';

const ADVICE = new Map([
  ['42P01', `a table of the store is missing: ${MIGRATE}`],
  ['3F000', `the schema of the store is missing: ${MIGRATE}`],
  [
    '42883',
    'the server lacks a function that the store uses: the store needs PostgreSQL 13 or newer',
  ],
]);

/** Adds advice to an error of the store's own statements. The driver's error is the cause. */
export function explained(error: unknown): unknown {
  const problems = codesIn(error).map((code) => ADVICE.get(code));
  const advice = problems.find((problem) => problem !== undefined) ?? addressesIn(error);
  return advice === undefined ? error : new Error(advice, { cause: error });
}

/** Returns the reason for each address of a host, because their common error has no message. */
function addressesIn(error: unknown): string | undefined {
  if (!(error instanceof AggregateError) || error.message !== '') return undefined;
  return error.errors.map((each: unknown) => (each as Error).message).join(', ');
}

/** Returns the reason for an unwritten mark, from the error of the last message. */
export function finishFailure(error: unknown): unknown {
  const codes = codesIn(error);
  if (codes.includes('23505')) return new MarkConflict('the mark is there', { cause: error });
  if (codes.includes('22012')) {
    return notCredited(
      'your code ended the transaction of `tx`. Never send BEGIN, COMMIT or ROLLBACK: throw an ' +
        'error to roll back, and use SAVEPOINT and ROLLBACK TO for a part',
      error,
    );
  }
  if (codes.includes('25P02')) {
    return notCredited(
      'your code continued after a failed statement, but PostgreSQL had aborted the transaction. ' +
        'Rethrow the error, or set a SAVEPOINT before a statement that may fail',
      error,
    );
  }
  return explained(error);
}
