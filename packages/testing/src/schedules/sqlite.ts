/**
 * The statements of SQLite, which runs in the merchant's process. A hook there reports each
 * statement, and runs it once the parent process, which reads the reports as a wire, says so.
 */
import { readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Round } from './round.js';
import { splitMessages, type Listener, type Wire } from './wire.js';

interface Connection {
  readonly inTransaction?: boolean;
  readonly isTransaction?: boolean;
  prepare(sql: string): object;
  close(): void;
}
interface Driver {
  new (file: string): Connection;
  readonly DatabaseSync?: Driver;
}
type Method = (this: object, ...call: unknown[]) => unknown;
type Methods = Record<string, Method>;

/** Lets a statement run, or its caller go on. */
const GO = Buffer.from('.');
/** The parent's pipe. Reading it blocks, as the statement would. */
const PIPE = 4;
/** better-sqlite3's statements have these properties, also those that its transactions prepare. */
interface Source {
  readonly source?: string;
  readonly database?: Connection;
}
const sources = new WeakMap<object, Source>();
let isRunning = false;

/** Hooks the drivers that the module can load. */
export function hookSqlite(module: string): void {
  const require = createRequire(module);
  for (const name of ['better-sqlite3', 'libsql', 'node:sqlite']) {
    let connection: Connection;
    try {
      const driver = require(name) as Driver;
      connection = new (driver.DatabaseSync ?? driver)(':memory:');
    } catch {
      // The project has no such driver.
      continue;
    }
    const prototype = Object.getPrototypeOf(connection) as Methods;
    const prepare = prototype['prepare']!;
    prototype['prepare'] = function (...call) {
      const statement = prepare.apply(this, call) as object;
      sources.set(statement, { source: String(call[0]), database: this as Connection });
      return statement;
    };
    hook(prototype, ['exec']);
    const statement = Object.getPrototypeOf(connection.prepare('SELECT 1')) as Methods;
    hook(statement, ['run', 'get', 'all', 'iterate']);
    connection.close();
  }
}

function hook(prototype: Methods, names: readonly string[]): void {
  for (const name of names) {
    const run = prototype[name]!;
    prototype[name] = function (...call) {
      // A driver's method may use another one.
      if (isRunning) return run.apply(this, call);
      isRunning = true;
      const known: Source = sources.get(this) ?? this;
      const { source: sql = String(call[0]), database = this as Connection } = known;
      ask({ sql });
      let [rows, error]: (number | string | undefined)[] = [];
      try {
        const result = run.apply(this, call) as { changes?: number } | undefined;
        rows = Array.isArray(result) ? result.length : Number(result?.changes ?? Boolean(result));
        return result;
      } catch (thrown) {
        error = String((thrown as { code?: unknown }).code);
        throw thrown;
      } finally {
        isRunning = false;
        const { inTransaction: isInTransaction = database.isTransaction } = database;
        ask({ rows, error, isInTransaction });
      }
    };
  }
}

/** Tells the parent process, and blocks until it answers. */
function ask(told: object): void {
  const body = Buffer.from(JSON.stringify(told));
  const header = Buffer.alloc(4);
  header.writeUInt32BE(header.length + body.length);
  writeSync(PIPE, Buffer.concat([header, body]));
  if (readSync(PIPE, Buffer.alloc(1)) === 0) process.exit();
}

export function openSqliteWire(listener: Listener): Wire {
  const fromClient = splitMessages(
    (bytes) => (bytes.length < 4 ? undefined : bytes.readUInt32BE(0)),
    (message) => {
      const { sql, ...answer } = JSON.parse(message.toString('utf8', 4)) as { sql?: string };
      if (sql === undefined) {
        Object.assign(listener.current!, answer);
        listener.onAnswer();
        return listener.reply(GO);
      }
      listener.onRound(new Round([sql], [GO]));
    },
  );
  listener.isOpen = true;
  return { fromClient, fromServer: () => undefined };
}
