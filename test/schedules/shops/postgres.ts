/** A merchant's module on PostgreSQL. The variable DESIGN names its credit. */
import type { Order } from '@paylink/payments';
import { Pool, type PoolClient } from 'pg';

type Work = (on: PoolClient) => Promise<number>;
type Credit = (reference: string) => Promise<number>;

const design = process.env['DESIGN'] ?? 'one write';
const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: design.includes('a pool of 1') ? 1 : 10,
});
const reader = design.includes('a pool of 1')
  ? pool
  : new Pool({ connectionString: process.env['DATABASE_URL'], max: 2 });
for (const each of [pool, reader]) {
  each.on('error', () => undefined);
  each.on('connect', (client) => client.on('error', () => undefined));
}

const count = async (sql: string, reference: string, on: Pool | PoolClient = pool) =>
  (await on.query(sql, [reference])).rowCount ?? 0;
const isPaid = async (reference: string, on: Pool | PoolClient = pool) =>
  (await count(`${PAID} reference = $1 AND paid_at IS NOT NULL`, reference, on)) > 0;

const PAID = 'SELECT reference FROM orders WHERE';
const PAY = 'UPDATE orders SET paid_at = now() WHERE reference = $1';
const PAY_UNPAID = `${PAY} AND paid_at IS NULL`;
const RECEIPT = 'INSERT INTO receipts (reference) VALUES ($1)';
const CLAIM = 'INSERT INTO claims (reference) VALUES ($1) ON CONFLICT DO NOTHING';
const busy = new Set<string>();

async function transaction(work: Work, begin = 'BEGIN'): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query(begin);
    const changed = await work(client);
    await client.query('COMMIT');
    client.release();
    return changed;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

const readThenWrite =
  (reference: string, read: typeof isPaid = isPaid): Work =>
  async (on) => {
    if (await read(reference, on)) return 0;
    await count(PAY, reference, on);
    return count(RECEIPT, reference, on);
  };

/** Credits, and pays into the one wallet. */
const withWallet =
  (payIn: (on: PoolClient) => Promise<unknown>): Credit =>
  (reference) =>
    transaction(async (on) => {
      const changed = await count(PAY_UNPAID, reference, on);
      if (changed > 0) await payIn(on);
      return changed;
    });

const credits: Record<string, Credit> = {
  'one write': (reference) => count(PAY_UNPAID, reference),
  'one write and a receipt, in a transaction': (reference) =>
    transaction(async (on) => {
      const changed = await count(PAY_UNPAID, reference, on);
      if (changed > 0) await count(RECEIPT, reference, on);
      return changed;
    }),
  'a read FOR UPDATE, then a write': (reference) =>
    transaction(
      readThenWrite(reference, async (key, on = pool) => {
        const sql = 'SELECT paid_at FROM orders WHERE reference = $1 FOR UPDATE';
        const { rows } = await on.query<{ paid_at: unknown }>(sql, [key]);
        return rows[0]!.paid_at !== null;
      }),
    ),
  'a read FOR UPDATE SKIP LOCKED, then a write': (reference) =>
    transaction(
      readThenWrite(reference, async (key, on = pool) => {
        const sql = `${PAID} reference = $1 AND paid_at IS NULL FOR UPDATE SKIP LOCKED`;
        return (await count(sql, key, on)) === 0;
      }),
    ),
  'one write, beside a worker': (reference) => count(PAY_UNPAID, reference),
  'a read, then a write, SERIALIZABLE': (reference) =>
    transaction(readThenWrite(reference), 'BEGIN ISOLATION LEVEL SERIALIZABLE'),
  'an advisory lock around a read and a write': (reference) =>
    transaction(async (on) => {
      await on.query('SELECT pg_advisory_xact_lock(hashtext($1))', [reference]);
      return readThenWrite(reference)(on);
    }),
  'a read, then a write': (reference) => readThenWrite(reference)(pool as never),
  'a read, then a write, in a transaction': (reference) => transaction(readThenWrite(reference)),
  'a read, then a write, on a pool of 1': async (reference) =>
    (await isPaid(reference)) ? 0 : count(PAY, reference),
  'a lock in memory': async (reference) => {
    if (busy.has(reference)) return 0;
    busy.add(reference);
    const changed = (await isPaid(reference)) ? 0 : await count(PAY, reference);
    busy.delete(reference);
    return changed;
  },
  'INSERT … WHERE NOT EXISTS without a key': (reference) =>
    count(
      'INSERT INTO receipts SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM receipts WHERE reference = $1)',
      reference,
    ),
  'a receipt before the write': async (reference) => {
    await count(RECEIPT, reference);
    return count(PAY_UNPAID, reference);
  },
  'a receipt after the commit': async (reference) => {
    const changed = await count(PAY_UNPAID, reference);
    if (changed > 0) await count(RECEIPT, reference);
    return changed;
  },
  'a receipt in a second transaction': (reference) =>
    transaction(async (on) => {
      const changed = await count(PAY_UNPAID, reference, on);
      if (changed > 0) await count(RECEIPT, reference);
      return changed;
    }),
  'a function of the database that reads and writes': async (reference) => {
    const { rows } = await pool.query<{ n: number }>('SELECT credit_order($1) AS n', [reference]);
    return rows[0]!.n;
  },
  'a wallet that adds': withWallet((on) => on.query('UPDATE wallets SET balance = balance + 1500')),
  'a wallet that is read, then written, on a pool of 1': withWallet(async (on) => {
    const { rows } = await on.query<{ balance: string }>('SELECT balance FROM wallets');
    await on.query('UPDATE wallets SET balance = $1', [Number(rows[0]!.balance) + 1_500]);
  }),
  'a claim that outlives its process': async (reference) =>
    (await count(CLAIM, reference)) > 0 ? count(PAY_UNPAID, reference) : 0,
};

if (design.includes('worker'))
  setInterval(() => {
    void pool.query('SELECT reference FROM receipts LIMIT 1 FOR UPDATE SKIP LOCKED').catch(() => 0);
  }, 20);

const byReceipt = design.startsWith('INSERT');
const paid = byReceipt
  ? 'EXISTS (SELECT 1 FROM receipts WHERE reference = $1)'
  : 'paid_at IS NOT NULL';

export const orders = {
  async find(reference: string) {
    const sql = `SELECT reference, amount, currency, ${paid} AS paid FROM orders WHERE reference = $1`;
    return (await reader.query<Order>(sql, [reference])).rows[0];
  },
  credit: ({ reference }: { readonly reference: string }) => credits[design]!(reference),
};

export const createOrder = (order: {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}) =>
  pool.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
    order.reference,
    order.amount,
    order.currency,
  ]);

export const effects = /receipt|read, then a write(?!, on)|a read FOR|around/i.test(design)
  ? (reference: string) => count('SELECT 1 FROM receipts WHERE reference = $1', reference, reader)
  : undefined;

export const total = design.includes('wallet')
  ? async () => {
      const { rows } = await reader.query<{ balance: string }>('SELECT balance FROM wallets');
      return rows[0]!.balance;
    }
  : undefined;

export const close = () => Promise.all([pool.end(), reader.end()]);
