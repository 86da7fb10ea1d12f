/** A merchant's module on SQLite. The variable DESIGN names its credit. */
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';

const design = process.env['DESIGN'];
const db = new Database(process.env['DATABASE_URL']!, { timeout: 5_000 });
db.exec('PRAGMA journal_mode = WAL');

const change = (sql: string, reference: string): number => db.prepare(sql).run(reference).changes;
const PAY = 'UPDATE orders SET paid_at = 1 WHERE reference = ?';
const PAY_UNPAID = `${PAY} AND paid_at IS NULL`;
const RECEIPT = 'INSERT INTO receipts (reference) VALUES (?)';
const transaction = db.transaction((work: () => number) => work());
const isPaid = (reference: string): boolean =>
  db.prepare('SELECT 1 FROM orders WHERE reference = ? AND paid_at = 1').get(reference) !==
  undefined;

const credits: Record<string, (reference: string) => number | Promise<number>> = {
  'one write': (reference) => change(PAY_UNPAID, reference),
  'one write and a receipt, in a transaction': (reference) =>
    transaction.immediate(() => {
      const changed = change(PAY_UNPAID, reference);
      return changed > 0 ? change(RECEIPT, reference) : 0;
    }),
  'a read, then a write': async (reference) => {
    if (isPaid(reference)) return 0;
    await pause(1);
    return change(PAY, reference);
  },
  'a receipt after the commit': (reference) => {
    const changed = change(PAY_UNPAID, reference);
    return changed > 0 ? change(RECEIPT, reference) : 0;
  },
  'an answer before the commit': (reference) => {
    db.exec('BEGIN IMMEDIATE');
    const changed = change(PAY_UNPAID, reference);
    setTimeout(() => db.exec('COMMIT'), 5);
    return changed;
  },
};

export const orders = {
  find: (reference: string) => {
    const row = db.prepare('SELECT * FROM orders WHERE reference = ?').get(reference) as
      | { readonly paid_at: unknown }
      | undefined;
    return row && { ...row, paid: row.paid_at !== null };
  },
  credit: ({ reference }: { readonly reference: string }) => credits[design!]!(reference),
};

export const createOrder = (order: {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}) =>
  void db
    .prepare('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)')
    .run(order.reference, order.amount, order.currency);

export const effects = design?.includes('receipt')
  ? (reference: string) =>
      db.prepare('SELECT 1 FROM receipts WHERE reference = ?').all(reference).length
  : undefined;

export const close = () => void db.close();
