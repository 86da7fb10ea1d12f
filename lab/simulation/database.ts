/**
 * A model of PostgreSQL for the money path: sessions, transactions at READ COMMITTED, row locks
 * with deadlock detection, unique keys, advisory locks, terminated sessions. database.test.ts
 * compares it with the real one.
 */
import { statementOf, type Statement } from './statements.js';

export type Values = Readonly<Record<string, unknown>>;

export interface Result {
  readonly command: string;
  readonly rows: Values[];
  readonly rowCount: number | null;
}

/** A server error with its SQLSTATE. */
export class SqlError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A row that a transaction has written or locked. */
interface RowLock {
  owner: Transaction;
  readonly waiting: Session[];
}

export class Transaction {
  /** Assigned at the first write, as in PostgreSQL. */
  id: number | undefined;
  failed = false;
  /** Rows as this transaction sees them, by table and key. `undefined` marks a deleted row. */
  readonly written = new Map<string, Map<string, Values | undefined>>();
  readonly locks = new Set<string>();
  readonly advisory = new Set<string>();
  idleTimeout = 0;

  constructor(readonly session: Session) {}
}

/** The steps of a statement. A step yields the row whose lock it needs. */
export type Steps = Generator<string, Result, void>;

export class Database {
  readonly #tables = new Map<string, Map<string, Values>>();
  readonly #locks = new Map<string, RowLock>();
  readonly #advisory = new Map<string, Transaction>();
  readonly #sessions = new Set<Session>();
  #lastId = 700;
  #serial = 0;

  /**
   * @param onIdle called when a session in a transaction starts to wait for its client
   * @param looksTooEarly true if the next look for a mark misses it, like a statement whose
   *   snapshot precedes another session's COMMIT, but whose advisory lock follows it
   */
  constructor(
    readonly onIdle: (session: Session, timeout: number) => void = () => undefined,
    readonly looksTooEarly: () => boolean = () => false,
  ) {}

  connect(): Session {
    const session = new Session(this);
    this.#sessions.add(session);
    return session;
  }

  /** Returns every committed row of a table. */
  committed(table: string): Values[] {
    return [...this.#table(table).values()];
  }

  /** Writes a row like another system's transaction. */
  insertCommitted(table: string, key: string, values: Values): void {
    this.#table(table).set(key, values);
  }

  /** Ends every session, as a server crash does. Uncommitted changes are lost. */
  crash(): void {
    for (const session of [...this.#sessions]) session.terminate();
  }

  // The parts of statements.

  rowsOf(transaction: Transaction, table: string): Map<string, Values> {
    const rows = new Map(this.#table(table));
    for (const [key, values] of transaction.written.get(table) ?? []) {
      if (values === undefined) rows.delete(key);
      else rows.set(key, values);
    }
    return rows;
  }

  rowOf(transaction: Transaction, table: string, key: string): Values | undefined {
    const own = transaction.written.get(table);
    return own?.has(key) === true ? own.get(key) : this.#table(table).get(key);
  }

  write(transaction: Transaction, table: string, key: string, values: Values | undefined): void {
    this.idOf(transaction);
    let rows = transaction.written.get(table);
    if (rows === undefined) {
      rows = new Map<string, Values | undefined>();
      transaction.written.set(table, rows);
    }
    rows.set(key, values);
  }

  nextSerial(): string {
    return String((this.#serial += 1));
  }

  idOf(transaction: Transaction): number {
    return (transaction.id ??= this.#lastId += 1);
  }

  /** `pg_try_advisory_xact_lock`. */
  tryAdvisory(transaction: Transaction, key: string): boolean {
    const owner = this.#advisory.get(key);
    if (owner !== undefined && owner !== transaction) return false;
    this.#advisory.set(key, transaction);
    transaction.advisory.add(key);
    return true;
  }

  terminateTransaction(id: number): boolean {
    for (const session of this.#sessions) {
      if (session.transaction?.id === id) {
        session.terminate();
        return true;
      }
    }
    return false;
  }

  // Locks.

  /**
   * Returns true if the session has the row. Otherwise it waits for its turn. @throws SqlError
   * 40P01 on a deadlock
   */
  takeRow(session: Session, row: string): boolean {
    const transaction = session.transaction!;
    const lock = this.#locks.get(row);
    if (lock === undefined || lock.owner === transaction) {
      if (lock === undefined) this.#locks.set(row, { owner: transaction, waiting: [] });
      transaction.locks.add(row);
      return true;
    }
    for (let owner: Transaction | undefined = lock.owner; owner !== undefined;) {
      if (owner === transaction) throw new SqlError('40P01', 'deadlock detected');
      const waitsFor: string | undefined = owner.session.waitsFor;
      owner = waitsFor === undefined ? undefined : this.#locks.get(waitsFor)?.owner;
    }
    lock.waiting.push(session);
    session.waitsFor = row;
    return false;
  }

  /** Releases a row that turned out not to match. */
  releaseRow(transaction: Transaction, row: string): void {
    transaction.locks.delete(row);
    const lock = this.#locks.get(row);
    if (lock?.owner !== transaction) return;
    const next = lock.waiting.shift();
    if (next === undefined) {
      this.#locks.delete(row);
      return;
    }
    lock.owner = next.transaction!;
    next.transaction!.locks.add(row);
    next.waitsFor = undefined;
    next.resume();
  }

  stopWaiting(session: Session): void {
    const lock = session.waitsFor === undefined ? undefined : this.#locks.get(session.waitsFor);
    lock?.waiting.splice(lock.waiting.indexOf(session), 1);
    session.waitsFor = undefined;
  }

  end(transaction: Transaction, commit: boolean): void {
    if (commit) {
      for (const [table, rows] of transaction.written) {
        for (const [key, values] of rows) {
          if (values === undefined) this.#table(table).delete(key);
          else this.#table(table).set(key, values);
        }
      }
    }
    for (const key of transaction.advisory) this.#advisory.delete(key);
    transaction.advisory.clear();
    for (const row of [...transaction.locks]) this.releaseRow(transaction, row);
  }

  forgetSession(session: Session): void {
    this.#sessions.delete(session);
  }

  #table(name: string): Map<string, Values> {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new Map<string, Values>();
      this.#tables.set(name, table);
    }
    return table;
  }
}

type Answer = (error: SqlError | undefined, results: Result[]) => void;

/** One client message with one or more statements. */
interface Message {
  readonly statements: readonly Statement[];
  readonly values: readonly unknown[];
  readonly answer: Answer;
  readonly results: Result[];
  next: number;
  /** Set if the message began its own transaction, which its end commits. */
  implicit: boolean;
  running: Steps | undefined;
}

export class Session {
  transaction: Transaction | undefined;
  waitsFor: string | undefined;
  closed = false;
  /** Set if the client left. The server notices at the end of the statement. */
  #abandoned = false;
  #message: Message | undefined;
  #onTerminate: () => void = () => undefined;

  constructor(readonly database: Database) {}

  onTerminate(listener: () => void): void {
    this.#onTerminate = listener;
  }

  get isBusy(): boolean {
    return this.#message !== undefined;
  }

  /** Takes one message. Calls `answer` once, as soon as the locks are free. */
  send(text: string, values: readonly unknown[], answer: Answer): void {
    if (this.closed) return;
    const statements = text
      .split(/;\s*(?:\n|$)|;\s+/)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '')
      .map(statementOf);
    this.#message = {
      statements,
      values,
      answer,
      results: [],
      next: 0,
      implicit: false,
      running: undefined,
    };
    this.resume();
  }

  /** The client leaves. */
  disconnect(): void {
    this.#abandoned = true;
    if (this.#message === undefined) this.#close();
  }

  /** `pg_terminate_backend`, a timeout, or the server's end. */
  terminate(): void {
    if (this.closed) return;
    this.database.stopWaiting(this);
    this.#message = undefined;
    this.#close();
    this.#onTerminate();
  }

  resume(): void {
    const message = this.#message;
    if (message === undefined) return;
    try {
      while (message.next < message.statements.length) {
        if (!this.#step(message)) return;
      }
      if (message.implicit) this.#endTransaction(true);
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      if (message.implicit) this.#endTransaction(false);
      else if (this.transaction !== undefined) this.#fail(this.transaction);
      this.#answer(message, error);
      return;
    }
    this.#answer(message, undefined);
  }

  /** Runs one statement as far as possible. Returns true if it ended. */
  #step(message: Message): boolean {
    const statement = message.statements[message.next]!;
    if (statement.control !== undefined) {
      message.results.push(this.#control(statement.control, message));
      message.next += 1;
      return true;
    }
    if (this.transaction?.failed === true) throw givenUp();
    if (this.transaction === undefined) {
      this.transaction = new Transaction(this);
      message.implicit = true;
    }
    message.running ??= statement.run(this.database, this.transaction, message.values);
    for (;;) {
      const { done, value } = message.running.next();
      if (done === true) {
        message.results.push(value);
        message.running = undefined;
        message.next += 1;
        return true;
      }
      if (!this.database.takeRow(this, value)) return false;
    }
  }

  #control(control: 'BEGIN' | 'COMMIT' | 'ROLLBACK', message: Message): Result {
    if (control === 'BEGIN') {
      if (this.transaction?.failed === true) throw givenUp();
      this.transaction ??= new Transaction(this);
      message.implicit = false;
      return { command: 'BEGIN', rows: [], rowCount: null };
    }
    const commits = control === 'COMMIT' && this.transaction?.failed === false;
    message.implicit = false;
    this.#endTransaction(commits);
    return {
      command: commits || control === 'ROLLBACK' ? control : 'ROLLBACK',
      rows: [],
      rowCount: null,
    };
  }

  /**
   * Undoes a failed transaction and its locks at once, as the server does, then waits for its
   * ROLLBACK.
   */
  #fail(transaction: Transaction): void {
    if (transaction.failed) return;
    transaction.failed = true;
    this.database.end(transaction, false);
    transaction.written.clear();
  }

  #endTransaction(commit: boolean): void {
    const { transaction } = this;
    this.transaction = undefined;
    if (transaction !== undefined) this.database.end(transaction, commit);
  }

  #answer(message: Message, error: SqlError | undefined): void {
    this.#message = undefined;
    const { transaction } = this;
    if (this.#abandoned) this.#close();
    else if (transaction !== undefined && transaction.idleTimeout > 0)
      this.database.onIdle(this, transaction.idleTimeout);
    message.answer(error, message.results);
  }

  #close(): void {
    if (this.closed) return;
    this.closed = true;
    this.database.forgetSession(this);
    this.#endTransaction(false);
  }
}

function givenUp(): SqlError {
  return new SqlError(
    '25P02',
    'current transaction is aborted, commands ignored until end of transaction block',
  );
}
