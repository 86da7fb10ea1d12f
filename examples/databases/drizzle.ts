import type { Orders } from '@paylink/payments';
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

export const db = drizzle(process.env['DATABASE_URL'] ?? '');
// Without a listener, a lost connection would end the process.
db.$client.on('error', ({ message }) => console.error(message));
const table = pgTable('orders', {
  reference: text().primaryKey(),
  amount: bigint({ mode: 'bigint' }).notNull(),
  currency: text().notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  paidAt: timestamp('paid_at', { withTimezone: true }),
});
const { reference: key } = table;
const lastMonth = gt(table.createdAt, sql`now() - interval '30 days'`);

export const orders: Orders = {
  async find(reference) {
    const [order] = await db.select().from(table).where(eq(key, reference));
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isOrder = and(eq(key, reference), eq(table.currency, currency));
    const isDue = and(isOrder, eq(table.amount, BigInt(amount)), isNull(table.paidAt));
    const set = { paidAt: sql`now()` };
    return (await db.update(table).set(set).where(isDue)).rowCount;
  },
  async unpaid() {
    const isUnpaid = and(isNull(table.paidAt), lastMonth);
    const rows = await db.select({ key }).from(table).where(isUnpaid).orderBy(table.createdAt);
    return rows.map(({ key }) => key);
  },
};

export const close = () => db.$client.end();
