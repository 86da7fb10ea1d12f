import type { Orders } from '@paylink/payments';
import Database from 'better-sqlite3';
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const client = new Database(process.env['DATABASE_FILE'] ?? 'shop.db', { timeout: 5_000 });
export const db = drizzle({ client });
const table = sqliteTable('orders', {
  reference: text().primaryKey(),
  amount: integer().notNull(),
  currency: text().notNull(),
  createdAt: text('created_at').notNull(),
  paidAt: text('paid_at'),
});
const { reference: key } = table;
const lastMonth = gt(table.createdAt, sql`datetime('now', '-30 days')`);

export const orders: Orders = {
  async find(reference) {
    const [order] = await db.select().from(table).where(eq(key, reference));
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isOrder = and(eq(key, reference), eq(table.currency, currency));
    const isDue = and(isOrder, eq(table.amount, amount), isNull(table.paidAt));
    const set = { paidAt: sql`CURRENT_TIMESTAMP` };
    return (await db.update(table).set(set).where(isDue)).changes;
  },
  async unpaid() {
    const isUnpaid = and(isNull(table.paidAt), lastMonth);
    const rows = await db.select({ key }).from(table).where(isUnpaid).orderBy(table.createdAt);
    return rows.map(({ key }) => key);
  },
};

export const close = (): void => void client.close();
