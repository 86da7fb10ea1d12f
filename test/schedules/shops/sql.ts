/** A merchant's module on PostgreSQL or MariaDB. The variable DESIGN names its credit. */
import type { Order } from '@paylink/payments';
import { openEngine, type On } from './engine.js';

const design = process.env['DESIGN'] ?? 'one write';
const url = process.env['DATABASE_URL']!;
const isOnePool = design.includes('a pool of 1');
const db = openEngine(url, isOnePool ? 1 : 10);
const reader = isOnePool ? db : openEngine(url, 2);
/** Keeps its transaction between two deliveries. */
const left = openEngine(url, 1);

const PAY = 'UPDATE orders SET paid_at = now() WHERE reference = $1';
const PAY_UNPAID = `${PAY} AND paid_at IS NULL`;
const RECEIPT = 'INSERT INTO receipts (reference) VALUES ($1)';
const CLAIM = 'INSERT INTO claims (reference) VALUES ($1) ON CONFLICT DO NOTHING';
const UNCLAIMED = `SELECT reference FROM orders
  WHERE reference = $1 AND paid_at IS NULL FOR UPDATE SKIP LOCKED`;
const WITHOUT_KEY = `INSERT INTO receipts
  SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM receipts WHERE reference = $1)`;
const busy = new Set<string>();
let hasFailed = false;

async function isPaid(reference: string, on: On = db, lock = ''): Promise<boolean> {
  const sql = `SELECT paid_at FROM orders WHERE reference = $1 ${lock}`;
  const [row] = await on.read<{ readonly paid_at: unknown }>(sql, [reference]);
  return row!.paid_at !== null;
}

const pay = (reference: string): Promise<number> => db.write(PAY_UNPAID, [reference]);

async function payAndReceipt(reference: string, on: On, second = on): Promise<number> {
  const changed = await on.write(PAY_UNPAID, [reference]);
  return changed > 0 ? second.write(RECEIPT, [reference]) : 0;
}

async function readThenWrite(reference: string, on: On, lock = ''): Promise<number> {
  if (await isPaid(reference, on, lock)) return 0;
  await on.write(PAY, [reference]);
  return on.write(RECEIPT, [reference]);
}

async function readThenPay(reference: string): Promise<number> {
  return (await isPaid(reference)) ? 0 : db.write(PAY, [reference]);
}

/** Credits, and pays into the one wallet. */
const payIntoWallet = (reference: string, payIn: (on: On) => Promise<number>): Promise<number> =>
  db.transaction(async (on) => {
    const changed = await on.write(PAY_UNPAID, [reference]);
    return changed > 0 ? payIn(on) : 0;
  });

async function balanceOn(on: On): Promise<number> {
  const [wallet] = await on.read<{ readonly balance: string }>('SELECT balance FROM wallets');
  return Number(wallet!.balance);
}

const credits: Readonly<Record<string, (reference: string) => Promise<number>>> = {
  'one write': pay,
  'one write, beside a worker': pay,
  // As drivers that begin a transaction before each statement.
  'one write, then a read in a transaction that stays open': async (reference) => {
    const changed = await left.write(PAY_UNPAID, [reference]);
    await left.write('COMMIT');
    await left.write('BEGIN');
    await isPaid(reference, left);
    return changed;
  },
  'one write, in a process that ends after an error': (reference) =>
    pay(reference).catch((error: unknown) => {
      setTimeout(() => process.exit(1), 20);
      throw error;
    }),
  // As a conflict with another process that starts.
  'one write, but the first of each process fails': async (reference) => {
    if (hasFailed) return pay(reference);
    hasFailed = true;
    throw new Error('could not serialize access due to concurrent update');
  },
  'one write and a receipt, in a transaction': (reference) =>
    db.transaction((on) => payAndReceipt(reference, on)),
  'a read FOR UPDATE, then a write': (reference) =>
    db.transaction((on) => readThenWrite(reference, on, 'FOR UPDATE')),
  'a read FOR UPDATE SKIP LOCKED, then a write': (reference) =>
    db.transaction(async (on) => {
      const [row] = await on.read(UNCLAIMED, [reference]);
      return row === undefined ? 0 : readThenWrite(reference, on);
    }),
  'a read, then a write, SERIALIZABLE': (reference) =>
    db.transaction((on) => readThenWrite(reference, on), 'BEGIN ISOLATION LEVEL SERIALIZABLE'),
  'an advisory lock around a read and a write': (reference) =>
    db.transaction(async (on) => {
      await on.read('SELECT pg_advisory_xact_lock(hashtext($1))', [reference]);
      return readThenWrite(reference, on);
    }),
  'a read, then a write': (reference) => readThenWrite(reference, db),
  'a read, then a write, in a transaction': (reference) =>
    db.transaction((on) => readThenWrite(reference, on)),
  'a read, then a write, on a pool of 1': readThenPay,
  'a lock in memory': async (reference) => {
    if (busy.has(reference)) return 0;
    busy.add(reference);
    const changed = await readThenPay(reference);
    busy.delete(reference);
    return changed;
  },
  'INSERT … WHERE NOT EXISTS without a key': (reference) => db.write(WITHOUT_KEY, [reference]),
  'a receipt before the write': async (reference) => {
    await db.write(RECEIPT, [reference]);
    return pay(reference);
  },
  'a receipt even if the write changed no row': (reference) =>
    db.transaction(async (on) => {
      await on.write(PAY_UNPAID, [reference]);
      return on.write(RECEIPT, [reference]);
    }),
  'a mark in memory that no failed write removes': async (reference) => {
    if (busy.has(reference)) return 0;
    busy.add(reference);
    return pay(reference);
  },
  'a transaction that stays open, on a pool of 1': async (reference) => {
    await db.write('BEGIN');
    if (await isPaid(reference, db, 'FOR UPDATE')) return 0;
    await db.write(PAY, [reference]);
    return db.write('COMMIT').then(() => 1);
  },
  'a receipt after the commit': (reference) => payAndReceipt(reference, db),
  'a receipt in a second transaction': (reference) =>
    db.transaction((on) => payAndReceipt(reference, on, db)),
  'a function of the database that reads and writes': async (reference) => {
    const [row] = await db.read<{ n: number }>('SELECT credit_order($1) AS n', [reference]);
    return row!.n;
  },
  'a wallet that adds': (reference) =>
    payIntoWallet(reference, (on) => on.write('UPDATE wallets SET balance = balance + 1500')),
  'a wallet that is read, then written, on a pool of 1': (reference) =>
    payIntoWallet(reference, async (on) =>
      on.write('UPDATE wallets SET balance = $1', [(await balanceOn(on)) + 1_500]),
    ),
  'a claim that outlives its process': async (reference) =>
    (await db.write(CLAIM, [reference])) > 0 ? pay(reference) : 0,
};

if (design.includes('worker'))
  setInterval(() => {
    void db.read('SELECT reference FROM receipts LIMIT 1 FOR UPDATE SKIP LOCKED').catch(() => 0);
  }, 20);

const PAID = design.startsWith('INSERT')
  ? 'EXISTS (SELECT 1 FROM receipts WHERE reference = $1)'
  : 'paid_at IS NOT NULL';

export const orders = {
  async find(reference: string): Promise<Order | undefined> {
    const sql = `SELECT reference, amount, currency, ${PAID} AS paid FROM orders WHERE reference = $1`;
    const [row] = await reader.read<Omit<Order, 'paid'> & { readonly paid: unknown }>(sql, [
      reference,
    ]);
    // MariaDB has no boolean.
    return row && { ...row, paid: Boolean(row.paid) };
  },
  credit: ({ reference }: { readonly reference: string }) => credits[design]!(reference),
};

type NewOrder = Pick<Order, 'reference' | 'amount' | 'currency'>;

export const createOrder = ({ reference, amount, currency }: NewOrder): Promise<number> => {
  const sql = 'INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)';
  return db.write(sql, [reference, amount, currency]);
};

export const effects = /receipt|read, then a write(?!, on)|a read FOR|around/i.test(design)
  ? async (reference: string) =>
      (await reader.read('SELECT 1 FROM receipts WHERE reference = $1', [reference])).length
  : undefined;

export const total = design.includes('wallet') ? () => balanceOn(reader) : undefined;

export const close = () => Promise.all([db.close(), reader.close(), left.close()]);
