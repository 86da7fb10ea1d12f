/** Broken `orders` on SQLite: each is caught by the sentence that names its fault. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Order, Orders } from '@paylink/payments';
import Database from 'libsql';
import { afterAll, expect, it } from 'vitest';
import { faultsOf, type Broken } from './faults.js';

const db = new Database(':memory:');
afterAll(() => {
  db.close();
});
db.exec(`
  CREATE TABLE orders (reference text PRIMARY KEY NOT NULL, amount integer, currency text, paid_at text);
  CREATE TABLE nocase (reference text COLLATE NOCASE, amount integer, currency text, paid_at text);
  CREATE TABLE integers (reference integer, amount integer, currency text, paid_at text);
  CREATE TABLE texts (reference text PRIMARY KEY NOT NULL, amount text, currency text, paid_at text);
  CREATE TABLE flags (reference text PRIMARY KEY NOT NULL, amount integer, currency text, paid_at text DEFAULT '')`);

interface Row extends Omit<Order, 'paid'> {
  readonly paid_at: string | null;
}

const findIn =
  (table: string): Orders['find'] =>
  (reference) => {
    const row = db.prepare(`SELECT * FROM ${table} WHERE reference = ?`).get(reference) as
      | Row
      | undefined;
    return row && { ...row, paid: row.paid_at !== null };
  };
const creditIn =
  (table: string): Orders['credit'] =>
  ({ reference, amount, currency }) =>
    db
      .prepare(
        `UPDATE ${table} SET paid_at = CURRENT_TIMESTAMP WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`,
      )
      .run(reference, amount, currency).changes;
const onTable = (table: string): Broken => ({
  orders: { find: findIn(table), credit: creditIn(table) },
  createOrder: ({ reference, amount, currency }) =>
    db
      .prepare(`INSERT INTO ${table} (reference, amount, currency) VALUES (?, ?, ?)`)
      .run(reference, amount, currency),
});
const right = onTable('orders');

const broken: Record<string, readonly [Broken, RegExp]> = {
  'a read, then a write': [
    {
      ...right,
      orders: {
        ...right.orders,
        async credit(payment, context) {
          const order = await right.orders.find(payment.reference, context);
          await nextTurn();
          if (order?.paid !== false) return 0;
          return db
            .prepare('UPDATE orders SET paid_at = CURRENT_TIMESTAMP WHERE reference = ?')
            .run(payment.reference).changes;
        },
      },
    },
    /^20 of 20 simultaneous calls credited the same order/,
  ],
  'a column without case': [
    onTable('nocase'),
    /^(credit also paid the order whose reference is the same|find returns another order for a reference) in another case/,
  ],
  'a column with a default': [onTable('flags'), /^A new order must be unpaid.*a default/],
  'an unconditional credit': [
    {
      ...right,
      orders: {
        ...right.orders,
        credit: ({ reference }) =>
          db
            .prepare('UPDATE orders SET paid_at = CURRENT_TIMESTAMP WHERE reference = ?')
            .run(reference).changes,
      },
    },
    /^credit returned 1 for an order that was already paid/,
  ],
  'two orders of one reference': [onTable('nocase'), /^Two orders share a reference/],
};

it.each(Object.keys(broken))(
  'names the fault of %s',
  { tags: ['P22', 'P27', 'P28', 'P30'] },
  async (name) => {
    const [options, sentence] = broken[name]!;
    expect(await faultsOf(options, sentence)).toContainEqual(expect.stringMatching(sentence));
  },
);

it('accuses no right orders, nor amounts in a column of text', async () => {
  expect(await faultsOf(right)).toEqual([]);
  expect(await faultsOf(onTable('texts'))).toEqual([]);
});
