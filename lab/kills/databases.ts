/** The orders of the kills on PostgreSQL and on SQLite: the recipes, with a ledger of effects. */
import type { ConfirmedPayment, Order } from '@paylink/payments';
import Sqlite from 'libsql';
import pg from 'pg';

/** The steps of a delivery between `find` and its reply, at which a receiver is killed. */
export const STEPS = {
  postgres: [
    'found',
    'confirmed',
    'credit written',
    'COMMIT sent',
    'committed',
    'found again',
    'replying',
  ],
  sqlite: ['found', 'confirmed', 'credit written', 'committed', 'found again', 'replying'],
} as const;

export type Engine = keyof typeof STEPS;
export type Step = (typeof STEPS)[Engine][number];

export interface Database {
  find(reference: string): Promise<Order | undefined>;
  /** Marks the order and writes its effect, in one transaction. Calls `reach` at each step. */
  credit(payment: ConfirmedPayment, reach: (step: Step) => void): Promise<number>;
  unpaid(): Promise<string[]>;
  add(reference: string, amount: number): Promise<void>;
  /** Counts the orders, and those whose effects are missing, repeated or without a paid order. */
  books(): Promise<Books>;
  close(): Promise<void>;
}

export interface Books {
  readonly orders: number;
  readonly lost: number;
  readonly doubled: number;
  readonly halves: number;
}

/** The design under test, or one that credits without a condition. */
export type Design = 'right' | 'unconditional';

const TABLES = `
CREATE TABLE IF NOT EXISTS orders (reference TEXT PRIMARY KEY, amount INTEGER NOT NULL,
  currency TEXT NOT NULL, paid_at TEXT);
CREATE TABLE IF NOT EXISTS credits (reference TEXT NOT NULL, amount INTEGER NOT NULL);`;
const MARK = "UPDATE orders SET paid_at = 'now' WHERE reference = $1 AND amount = $2";
const UNPAID = ' AND paid_at IS NULL';
const EFFECT = 'INSERT INTO credits VALUES ($1, $2)';
const FIND = 'SELECT amount, currency, paid_at FROM orders WHERE reference = $1';
const BOOKS = `SELECT count(*) AS orders,
  coalesce(sum(CASE WHEN effects = 0 THEN 1 ELSE 0 END), 0) AS lost,
  coalesce(sum(CASE WHEN effects > 1 THEN 1 ELSE 0 END), 0) AS doubled,
  coalesce(sum(CASE WHEN (effects > 0) <> (paid_at IS NOT NULL) THEN 1 ELSE 0 END), 0) AS halves
FROM (SELECT paid_at, (SELECT count(*) FROM credits c WHERE c.reference = o.reference) AS effects
  FROM orders o) AS effects`;

type Row = Pick<Order, 'amount' | 'currency'> & { readonly paid_at: string | null };
type Counts = Readonly<Record<keyof Books, string | number>>;

const orderOf = (reference: string, row: Row | undefined): Order | undefined =>
  row && { reference, amount: row.amount, currency: row.currency, paid: row.paid_at !== null };
const booksOf = ({ orders, lost, doubled, halves }: Counts): Books => ({
  orders: Number(orders),
  lost: Number(lost),
  doubled: Number(doubled),
  halves: Number(halves),
});

export function open(engine: Engine, place: string, design: Design = 'right'): Promise<Database> {
  const mark = design === 'right' ? MARK + UNPAID : MARK;
  return engine === 'postgres' ? openPostgres(place, mark) : openSqlite(place, mark);
}

async function openPostgres(url: string, mark: string): Promise<Database> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const reader = new pg.Pool({ connectionString: url, max: 4 });
  // A connection that is lost between two questions must not end the process.
  for (const each of [pool, reader])
    each
      .on('error', () => undefined)
      .on('connect', (client) => client.on('error', () => undefined));
  await pool.query(`SELECT pg_advisory_xact_lock(1); ${TABLES}`);
  return {
    async find(reference) {
      return orderOf(reference, (await reader.query<Row>(FIND, [reference])).rows[0]);
    },
    async credit({ reference, amount }, reach) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const { rowCount } = await client.query(mark, [reference, amount]);
        if (rowCount === 1) await client.query(EFFECT, [reference, amount]);
        reach('credit written');
        const committing = client.query('COMMIT');
        reach('COMMIT sent');
        await committing;
        reach('committed');
        return rowCount ?? 0;
      } finally {
        client.release();
      }
    },
    async unpaid() {
      const { rows } = await reader.query<{ reference: string }>(
        'SELECT reference FROM orders WHERE paid_at IS NULL',
      );
      return rows.map(({ reference }) => reference);
    },
    async add(reference, amount) {
      await pool.query("INSERT INTO orders VALUES ($1, $2, 'XOF')", [reference, amount]);
    },
    books: async () => booksOf((await reader.query<Counts>(BOOKS)).rows[0]!),
    close: async () => {
      await Promise.all([pool.end(), reader.end()]);
    },
  };
}

async function openSqlite(file: string, mark: string): Promise<Database> {
  const database = new Sqlite(file, { timeout: 10_000 });
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(TABLES);
  // SQLite numbers its parameters by `?1`.
  const prepare = (sql: string) => database.prepare(sql.replaceAll('$', '?'));
  return {
    find: async (reference) => orderOf(reference, prepare(FIND).get(reference) as Row | undefined),
    async credit({ reference, amount }, reach) {
      database.exec('BEGIN IMMEDIATE');
      const { changes } = prepare(mark).run(reference, amount);
      if (changes === 1) prepare(EFFECT).run(reference, amount);
      reach('credit written');
      database.exec('COMMIT');
      reach('committed');
      return changes;
    },
    async unpaid() {
      const rows = prepare('SELECT reference FROM orders WHERE paid_at IS NULL').all();
      return (rows as { reference: string }[]).map(({ reference }) => reference);
    },
    async add(reference, amount) {
      prepare("INSERT INTO orders VALUES ($1, $2, 'XOF', NULL)").run(reference, amount);
    },
    books: async () => booksOf(prepare(BOOKS).get() as Counts),
    close: async () => {
      database.close();
    },
  };
}
