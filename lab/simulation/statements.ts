/**
 * The statements that the model understands: the store's and the simulated merchant's. An unknown
 * statement throws, so that a change in the store's SQL is noticed.
 */
import {
  SqlError,
  type Database,
  type Result,
  type Steps,
  type Transaction,
  type Values,
} from './database.js';

export interface Statement {
  readonly control?: 'BEGIN' | 'COMMIT' | 'ROLLBACK' | undefined;
  run(database: Database, transaction: Transaction, values: readonly unknown[]): Steps;
}

/** The merchant's statements, from handlers and designs. */
export const SQL = {
  readOrder: 'SELECT amount, paid FROM orders WHERE tenant = $1 AND reference = $2',
  lockOrder: 'SELECT amount, paid FROM orders WHERE tenant = $1 AND reference = $2 FOR UPDATE',
  markPaid: 'UPDATE orders SET paid = true WHERE tenant = $1 AND reference = $2 AND NOT paid',
  unpaid: 'SELECT tenant, reference FROM orders WHERE NOT paid ORDER BY tenant, reference',
  payAndCount:
    'UPDATE orders SET paid = true, credits = credits + 1 WHERE tenant = $1 AND reference ' +
    '= $2 AND NOT paid',
  credit: 'INSERT INTO credits (tenant, reference, amount, kind) VALUES ($1, $2, $3, $4)',
  lookUp: 'SELECT FROM marks WHERE key = $1',
  mark: 'INSERT INTO marks (key) VALUES ($1) ON CONFLICT DO NOTHING',
} as const;

export const orderKey = (tenant: unknown, reference: unknown): string =>
  JSON.stringify([tenant, reference]);

type Run = (
  groups: readonly string[],
  database: Database,
  transaction: Transaction,
  values: readonly unknown[],
) => Steps;

const MARKS = 'paylink_marks';

/** The store's statements, by their shape. */
const STORE: readonly (readonly [RegExp, Run])[] = [
  [
    /^SELECT CASE WHEN current_setting\('transaction_isolation'\) <> 'serializable'\n {2}AND EXISTS \(SELECT FROM \S+ WHERE key = decode\('([0-9a-f]+)', 'hex'\)\) THEN 'done'\n {2}WHEN NOT pg_try_advisory_xact_lock\((-?\d+)\) THEN 'in_progress'\n {2}ELSE pg_current_xact_id\(\)::text END AS state, current_setting\('role'\) AS role,\n {2}set_config\('idle_in_transaction_session_timeout', '(\d+)', true\) AS timeout$/,
    function* ([key = '', lock = '', timeout = ''], database, transaction) {
      const answer = (state: string): Result => {
        transaction.idleTimeout = Number(timeout);
        return result('SELECT', [
          { state, role: 'none', timeout: `${Number(timeout) / 60_000}min` },
        ]);
      };
      const isDone = database.rowOf(transaction, MARKS, key) !== undefined;
      if (isDone && !database.looksTooEarly()) return answer('done');
      if (!database.tryAdvisory(transaction, lock)) return answer('in_progress');
      return answer(String(database.idOf(transaction)));
    },
  ],
  [
    /^SELECT encode\(key, 'hex'\) AS key FROM \S+\nWHERE key = ANY\(ARRAY\[(.*)\]\)$/s,
    function* ([list = ''], database, transaction) {
      const keys = [...list.matchAll(/decode\('([0-9a-f]+)', 'hex'\)/g)].map(([, key = '']) => key);
      const done = keys.filter((key) => database.rowOf(transaction, MARKS, key) !== undefined);
      return result(
        'SELECT',
        done.map((key) => ({ key })),
      );
    },
  ],
  [
    /^SELECT set_config\('role', E'none', true\) AS role$/,
    function* () {
      return result('SELECT', [{ role: 'none' }]);
    },
  ],
  [
    /^INSERT INTO \S+ \(key\) SELECT decode\('([0-9a-f]+)', 'hex'\)\nWHERE 1 \/ \(pg_current_xact_id\(\)::text = '(\d+)'\)::int = 1$/,
    function* ([key = '', id], database, transaction) {
      if (String(database.idOf(transaction)) !== id)
        throw new SqlError('22012', 'division by zero');
      if (!(yield* insertUnique(database, transaction, MARKS, key, { key }))) {
        throw new SqlError('23505', 'duplicate key value violates unique constraint');
      }
      return result('INSERT', [], 1);
    },
  ],
  [
    /^SELECT pg_terminate_backend\(pid\) FROM pg_locks\nWHERE locktype = 'transactionid' AND transactionid = '(\d+)' AND mode = 'ExclusiveLock'$/,
    function* ([id], database) {
      const ended = database.terminateTransaction(Number(id));
      return result('SELECT', ended ? [{ pg_terminate_backend: true }] : []);
    },
  ],
];

/** The merchant's statements, by their text. */
const MERCHANT: Readonly<Record<string, Run>> = {
  *[SQL.readOrder](_, database, transaction, [tenant, reference]) {
    const row = database.rowOf(transaction, 'orders', orderKey(tenant, reference));
    return result('SELECT', row === undefined ? [] : [columns(row, 'amount', 'paid')]);
  },
  *[SQL.lockOrder](_, database, transaction, [tenant, reference]) {
    const row = yield* lockRow(database, transaction, 'orders', orderKey(tenant, reference));
    return result('SELECT', row === undefined ? [] : [columns(row, 'amount', 'paid')]);
  },
  *[SQL.markPaid](_, database, transaction, [tenant, reference]) {
    return yield* payOrder(database, transaction, orderKey(tenant, reference), 0);
  },
  *[SQL.payAndCount](_, database, transaction, [tenant, reference]) {
    return yield* payOrder(database, transaction, orderKey(tenant, reference), 1);
  },

  *[SQL.unpaid](_, database, transaction) {
    const rows = [...database.rowsOf(transaction, 'orders')]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, row]) => row);
    const unpaid = rows.filter(({ paid }) => paid !== true);
    return result(
      'SELECT',
      unpaid.map((row) => columns(row, 'tenant', 'reference')),
    );
  },

  *[SQL.credit](_, database, transaction, [tenant, reference, amount, kind]) {
    database.write(transaction, 'credits', database.nextSerial(), {
      tenant,
      reference,
      amount,
      kind,
    });
    return result('INSERT', [], 1);
  },

  *[SQL.lookUp](_, database, transaction, [key]) {
    return result(
      'SELECT',
      database.rowOf(transaction, 'marks', String(key)) === undefined ? [] : [{}],
    );
  },
  *[SQL.mark](_, database, transaction, [key]) {
    const inserted = yield* insertUnique(database, transaction, 'marks', String(key), { key });
    return result('INSERT', [], inserted ? 1 : 0);
  },
};

const known = new Map<string, Statement>();

/** Returns the effect of a statement. @throws if the model does not know it */
export function statementOf(text: string): Statement {
  const control = /^(BEGIN|COMMIT|ROLLBACK)$/.exec(text)?.[1] as Statement['control'];
  if (control !== undefined) return { control, run: unreachable };
  const merchant = MERCHANT[text];
  if (merchant !== undefined) return { run: (...rest) => merchant([], ...rest) };
  let statement = known.get(text);
  if (statement !== undefined) return statement;
  for (const [shape, run] of STORE) {
    const match = shape.exec(text);
    if (match === null) continue;
    const groups = match.slice(1);
    statement = { run: (...rest) => run(groups, ...rest) };
    if (known.size > 10_000) known.clear();
    known.set(text, statement);
    return statement;
  }
  throw new TypeError(`the model of the database does not know this statement: ${text}`);
}

function unreachable(): never {
  throw new TypeError('the session itself begins and ends transactions');
}

function result(command: string, rows: Values[], rowCount = rows.length): Result {
  return { command, rows, rowCount };
}

function columns(row: Values, ...names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** Updates an unpaid order: finds it, waits for its lock, and checks again. */
function* payOrder(
  database: Database,
  transaction: Transaction,
  key: string,
  credits: number,
): Steps {
  const seen = database.rowOf(transaction, 'orders', key);
  if (seen === undefined || seen['paid'] === true) return result('UPDATE', [], 0);
  const row = yield* lockRow(database, transaction, 'orders', key);
  if (row === undefined || row['paid'] === true) return result('UPDATE', [], 0);
  database.write(transaction, 'orders', key, {
    ...row,
    paid: true,
    credits: Number(row['credits']) + credits,
  });
  return result('UPDATE', [], 1);
}

/**
 * Locks an existing row, and returns its present values: another transaction may have changed it
 * meanwhile.
 */
function* lockRow(
  database: Database,
  transaction: Transaction,
  table: string,
  key: string,
): Generator<string, Values | undefined, void> {
  if (database.rowOf(transaction, table, key) === undefined) return undefined;
  yield rowName(table, key);
  database.idOf(transaction);
  return database.rowOf(transaction, table, key);
}

/** Inserts unless the key exists. Waits for an open transaction that has inserted it. */
function* insertUnique(
  database: Database,
  transaction: Transaction,
  table: string,
  key: string,
  values: Values,
): Generator<string, boolean, void> {
  if (database.rowOf(transaction, table, key) !== undefined) return false;
  const row = rowName(table, key);
  yield row;
  if (database.rowOf(transaction, table, key) !== undefined) {
    database.releaseRow(transaction, row);
    return false;
  }
  database.write(transaction, table, key, values);
  return true;
}

function rowName(table: string, key: string): string {
  return `${table} ${key}`;
}
