/** The inbox: failed deliveries in a table beside the marks. */
import { check, validateBound, validateOptions } from '@paylink/core/internal';
import type { FailedDelivery, Inbox } from '@paylink/payments';
import { withRetries } from '@paylink/payments/store';
import { deliveryOf, valuesOf, type FailedRow, type InboxSql } from './inbox-sql.js';
import { BYTES, digestOf } from './literals.js';
import { FORGET_TIMEOUT, type Marks } from './marks.js';
import { codesIn, isWorthRetrying, type Transactions } from './transaction.js';

/** Maximum number of deliveries that wait for a running write, because each one takes memory. */
const MOST_WAITING = 500;

/** The rows of one statement by key. */
interface Batch {
  readonly rows: Map<string, FailedRow>;
  /** Resolves with the errors of rejected rows. */
  readonly written: Promise<ReadonlyMap<string, Error>>;
}

type Database = Pick<Transactions<unknown>, 'query'>;

/** @param marks the marks beside which to store the inbox */
export function openInbox(database: Database, marks: Marks): Inbox {
  const sql = async (): Promise<InboxSql> => (await marks.sql()).inbox!;
  const writer = new Writer(database, sql);
  return {
    keep: (failed) => writer.keep(failed),

    async discard(key) {
      await database.query((await sql()).discard(digestOf(key)));
    },

    async list(options = {}) {
      const { limit = 100, after } = validateOptions(options, ['limit', 'after']);
      validateBound('limit', limit);
      const isDelivery = after === undefined || after.firstFailedAt instanceof Date;
      check(isDelivery, 'after', 'must be a delivery of the previous page');
      return (await database.query((await sql()).list(limit, after))).map(deliveryOf);
    },

    async get(key) {
      const [row] = await database.query((await sql()).get(digestOf(key)));
      if (row === undefined) return undefined;
      const { body, ...facts } = deliveryOf(row);
      return { ...facts, rawBody: Buffer.from(body!, 'base64') };
    },

    async forget({ olderThan }) {
      const isPast = olderThan instanceof Date && olderThan.getTime() < Date.now();
      check(isPast, 'olderThan', 'must be a Date in the past');
      const statement = (await sql()).forget(olderThan);
      const [row] = await database.query(statement, FORGET_TIMEOUT);
      return (row as { readonly forgotten: number }).forgotten;
    },
  };
}

/** Writes one batch at a time, so that a flood of failures takes one connection of the pool. */
class Writer {
  readonly #database: Database;
  readonly #sql: () => Promise<InboxSql>;
  #next: Batch | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #hasFailed = false;

  constructor(database: Database, sql: () => Promise<InboxSql>) {
    this.#database = database;
    this.#sql = sql;
  }

  async keep(failed: FailedDelivery): Promise<void> {
    // Checks the row before it waits, so that an invalid row does not stop the others.
    const values = valuesOf(failed);
    const batch = (this.#next ??= this.#open());
    const key = digestOf(failed.key);
    const before = batch.rows.get(key);
    if (before === undefined && batch.rows.size === MOST_WAITING) {
      throw new Error('the database is too slow: too many failed deliveries are waiting');
    }
    const { attempts, since } = before ?? { attempts: 0, since: performance.now() };
    batch.rows.set(key, { values, attempts: attempts + 1, since });
    const error = (await batch.written).get(key);
    if (error !== undefined) throw error;
  }

  #open(): Batch {
    const rows: Batch['rows'] = new Map();
    const written = this.#last.then(() => {
      this.#next = undefined;
      return this.#write(rows);
    });
    this.#last = written;
    return { rows, written };
  }

  async #write(rows: Batch['rows']): Promise<ReadonlyMap<string, Error>> {
    // Sorts the keys, so that two processes do not deadlock.
    const keys = [...rows.keys()].sort();
    const error = (await this.#probe()) ?? (await this.#send(keys.map((key) => rows.get(key)!)));
    const errors = new Map<string, Error>();
    this.#hasFailed = error !== undefined && !isOfValue(error);
    if (error === undefined) return errors;
    if (this.#hasFailed) return new Map(keys.map((key) => [key, withoutBody(error)]));
    // Retries each row alone, so that a row that the database rejects does not stop the others.
    for (const key of keys) {
      const own = await this.#send([rows.get(key)!]);
      if (own !== undefined) errors.set(key, withoutBody(own));
    }
    return errors;
  }

  /**
   * Sends a short statement after a failure. A pool keeps each statement that waits for a
   * connection, and during a long fault the bodies would fill the memory.
   */
  async #probe(): Promise<unknown> {
    return this.#hasFailed ? this.#run(() => 'SELECT 1') : undefined;
  }

  #send(rows: readonly FailedRow[]): Promise<unknown> {
    return this.#run(async () => (await this.#sql()).keep(rows));
  }

  /** Resolves with the error instead of rejecting. */
  async #run(makeStatement: () => string | Promise<string>): Promise<unknown> {
    try {
      const statement = await makeStatement();
      await withRetries({ isWorthRetrying }, () => this.#database.query(statement));
      return undefined;
    } catch (error) {
      return error ?? new Error('the database failed');
    }
  }
}

/**
 * Returns true if the server rejected a value, such as a character missing in its encoding (class
 * 22).
 */
function isOfValue(error: unknown): boolean {
  return codesIn(error).some((code) => code.startsWith('22'));
}

/** Removes the statement from the error, because the statement contains the body. */
function withoutBody(error: unknown): Error {
  const message = error instanceof Error ? error.message : 'the database failed';
  const hasStatement = message.includes(BYTES);
  const codes = [...new Set(codesIn(error))].join(', ');
  return new Error(hasStatement ? `the database refused the row (${codes})` : message);
}
