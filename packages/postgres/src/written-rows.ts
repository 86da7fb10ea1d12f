/** Whether the statements of a handler had any effect, by what the server answered to each. */
import { textOf } from './sql-text.js';

const CHANGES = new Set(['UPDATE', 'DELETE', 'MERGE']);
/** With no row, these have done nothing that counts. Any other command may have written: DO, CALL, TRUNCATE and so on. */
const QUIET = new Set([
  ...['SELECT', 'INSERT', 'SET', 'RESET', 'SHOW', 'LOCK', 'SAVEPOINT', 'RELEASE', 'ROLLBACK'],
  ...['DECLARE', 'FETCH', 'MOVE', 'CLOSE', 'PREPARE', 'DEALLOCATE', 'LISTEN', 'UNLISTEN', 'NOTIFY'],
]);
const LOCKS_ROWS = /\bfor\s+(?:no\s+key\s+)?(?:update|(?:key\s+)?share)\b/i;
/** A WITH query that writes: the answer counts the rows of the main statement alone. */
const WRITES_WITHIN = /\(\s*(?:insert|update|delete|merge)\b/i;
const IGNORES_CONFLICTS = /\bon\s+conflict\b/i;

/** The answer of `Marks.probe`. */
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
  readonly #texts: (string | undefined)[] = [];

  sent(query: unknown): void {
    this.used = true;
    this.#texts.push(textOf(query));
  }

  answered(command: string | undefined, rows: number): void {
    if (rows > 0 || command === undefined) this.#effect = true;
    else if (CHANGES.has(command)) this.#changes += 1;
    else if (command === 'INSERT') this.#inserts += 1;
    else if (!QUIET.has(command)) this.#effect = true;
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
  on(event: string, listener: (message: { readonly text: string }) => void): unknown;
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
  connection.on('readyForQuery', () => {
    if (reader.rows !== undefined) reader.rows.pending -= 1;
  });
  return reader;
}
