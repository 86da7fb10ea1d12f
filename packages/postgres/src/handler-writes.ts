/** What a handler wrote by `tx`, as far as the server's answers tell, and what the store logs or refuses where that is nothing. */
import { logQuietly, WebhookError, type Logger } from '@paylink/core';
import { textOf } from './sql-text.js';

const CHANGES = new Set(['UPDATE', 'DELETE', 'MERGE']);
/** With no row, these have done nothing that counts. Any other command may have written: DO, CALL, TRUNCATE and so on. */
const QUIET = new Set([
  ...['SELECT', 'INSERT', 'SET', 'RESET', 'SHOW', 'LOCK', 'SAVEPOINT', 'RELEASE', 'ROLLBACK'],
  ...['DECLARE', 'FETCH', 'MOVE', 'CLOSE', 'PREPARE', 'DEALLOCATE', 'LISTEN', 'UNLISTEN', 'NOTIFY'],
]);
/** Answers after which the connection may be in another transaction, or in none. ROLLBACK TO SAVEPOINT is answered like ROLLBACK. */
const CONTROLS = new Set(['BEGIN', 'START', 'COMMIT', 'ROLLBACK', 'PREPARE']);
const LOCKS_ROWS = /\bfor\s+(?:no\s+key\s+)?(?:update|(?:key\s+)?share)\b/i;
/** A WITH query that writes: the answer counts the rows of the main statement alone. */
const WRITES_WITHIN = /\(\s*(?:insert|update|delete|merge)\b/i;
const IGNORES_CONFLICTS = /\bon\s+conflict\b/i;

/** The answer of a run's `probe`. */
export interface Probe {
  /** The statements of this transaction that could write, the store's own included. */
  readonly commands: number;
  /** Whether a rule rewrote a statement, so that its answer counts other rows than were written. */
  readonly ruled: boolean;
}

/** The commands and row counts of one handler's statements. A false alarm is worse than a miss: in doubt it wrote something. */
export class WrittenRows {
  /** Whether the handler used `tx` at all. */
  used = false;
  /** Statements whose answer is awaited. */
  pending = 0;
  #effect = false;
  #changes = 0;
  #inserts = 0;
  #controls = false;
  #status: string | undefined;
  readonly #texts: (string | undefined)[] = [];

  sent(query: unknown): void {
    this.used = true;
    this.#texts.push(textOf(query));
  }

  answered(command: string | undefined, rows: number): void {
    if (command !== undefined && CONTROLS.has(command)) this.#controls = true;
    if (rows > 0 || command === undefined) this.#effect = true;
    else if (CHANGES.has(command)) this.#changes += 1;
    else if (command === 'INSERT') this.#inserts += 1;
    else if (!QUIET.has(command)) this.#effect = true;
  }

  /** @param status of the connection's transaction: T while it goes on, E once it has failed, I where there is none */
  ready(status: string | undefined): void {
    this.pending -= 1;
    this.#status = status;
  }

  /** Whether the answers, one to each statement, show that the connection is still in the transaction in which the handler began. */
  get staysInTransaction(): boolean {
    return this.pending === 0 && this.#status === 'T' && !this.#controls;
  }

  /** Whether rows were to be changed and none was, as far as the answers tell. */
  get nothing(): boolean {
    return !this.#effect && this.#changes > 0 && !this.#texts.some((text) => this.#mayHaveWritten(text));
  }

  /** Whether a trigger, a function or a rule wrote what the answers do not count. */
  hides({ commands, ruled }: Probe): boolean {
    const locking = this.#texts.filter((text) => LOCKS_ROWS.test(text!)).length;
    // One is the store's own mark.
    return ruled || commands > 1 + this.#changes + this.#inserts + locking;
  }

  #mayHaveWritten(text: string | undefined): boolean {
    if (text === undefined || WRITES_WITHIN.test(text)) return true;
    // It found its row: the order was credited before.
    return this.#inserts > 0 && IGNORES_CONFLICTS.test(text);
  }
}

interface ConnectionEvents {
  on(event: string, listener: (message: { readonly text: string; readonly status?: string }) => void): unknown;
}

const readers = new WeakMap<object, { rows: WrittenRows | undefined }>();

/**
 * Reads the server's answers on a connection of `pg`, so that every form of a query is seen alike: callbacks, cursors, streams,
 * prepared and several statements. Gives a function that stops it. A client that shows no connection (pg-native) is not read:
 * nothing on it raises an alarm.
 */
export function readAnswers(client: unknown, rows: WrittenRows): () => void {
  const { connection } = client as { readonly connection?: Partial<ConnectionEvents> };
  if (typeof connection?.on !== 'function') return () => undefined;
  let reader = readers.get(connection);
  // Listeners that stay cost less than listeners that come and go with each delivery.
  if (reader === undefined) readers.set(connection, (reader = listenTo(connection as ConnectionEvents)));
  reader.rows = rows;
  return () => (reader.rows = undefined);
}

function listenTo(connection: ConnectionEvents): { rows: WrittenRows | undefined } {
  const reader: { rows: WrittenRows | undefined } = { rows: undefined };
  connection.on('commandComplete', ({ text }) => {
    if (reader.rows === undefined) return;
    const [command] = text.split(' ', 1);
    reader.rows.answered(command, Number(/\d+$/.exec(text)?.[0] ?? 0));
  });
  // A cursor has read some rows, and more are to come.
  connection.on('portalSuspended', () => reader.rows?.answered('FETCH', 1));
  // What stands in for `pg` may tell less.
  connection.on('readyForQuery', (message) => reader.rows?.ready(message?.status));
  return reader;
}

const NOTHING_WRITTEN =
  'the handler ran UPDATE, DELETE or MERGE through `tx`, and no statement changed or returned a row: the order is not there (yet), ' +
  'or the WHERE does not find it. ';
const READ_FIRST =
  'Read the order in the transaction with SELECT … FOR UPDATE: where there is none, throw ' +
  "new WebhookError('unknown_order', { status: 503 }); where it is already paid, return. ";
const ALLOW = "Where changing nothing is right: postgresStore(pool, { nothingWritten: 'warn' })";

const UNUSED =
  'a handler ended without using `tx`, so what it wrote is not in the transaction of the mark: a crash between the two loses or repeats it. ' +
  'Write through `tx`';
const STARVED =
  'handlers wait for connections that their own transactions hold: every connection of the pool is in a transaction of this store, ' +
  'and a handler ran out of time without using `tx`. Write through `tx`, never through the pool';
const LATE =
  '`tx` was used after its handler had returned: the statement was refused, and the event is done without it. ' +
  'Await every statement: `for (const item of items) await tx.query(…)` in place of forEach, and no timers';

/** What the store logs about a handler, and what to write instead. */
export class Warnings {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #nothingWritten: 'refuse' | 'warn';
  #unused = false;

  constructor(logger: Pick<Logger, 'warn'>, nothingWritten: 'refuse' | 'warn') {
    this.#logger = logger;
    this.#nothingWritten = nothingWritten;
  }

  /**
   * Of rows that show `nothing`.
   *
   * @throws WebhookError `nothing_written`, unless the probe shows a write or only a warning is asked for.
   */
  nothingWritten(rows: WrittenRows, probe: Probe): void {
    if (rows.hides(probe)) return;
    if (this.#nothingWritten === 'refuse') {
      const message = `${NOTHING_WRITTEN}Nothing was committed, so that the sender may retry. ${READ_FIRST}${ALLOW}`;
      throw new WebhookError('nothing_written', { message });
    }
    this.#warn(`${NOTHING_WRITTEN}The event is done all the same, as \`nothingWritten: 'warn'\` asks. ${READ_FIRST}`);
  }

  /** Once for each store. */
  unused(starved: boolean, consequence = ''): void {
    if (this.#unused) return;
    this.#unused = true;
    this.#warn(`${starved ? STARVED : UNUSED}${consequence}`);
  }

  lateUse(): void {
    this.#warn(LATE);
  }

  #warn(message: string): void {
    logQuietly(() => this.#logger.warn(`[paylink] ${message}`));
  }
}
