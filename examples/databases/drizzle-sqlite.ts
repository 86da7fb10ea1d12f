import type { Orders } from '@paylink/payments';
import Database from 'better-sqlite3';
import { and, eq, isNotNull, isNull, sql, type SQL } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const file = process.env['DATABASE_FILE'] ?? 'shop.db';
const open = () => drizzle({ client: new Database(file, { timeout: 5_000 }) });
export const db = open();
const reader = open(); // separate, so that find sees only committed rows
const table = sqliteTable('orders', {
  reference: text().primaryKey(),
  amount: integer().notNull(),
  currency: text().notNull(),
  createdAt: text('created_at').notNull(),
  paidAt: text('paid_at'),
});
const [key, lastMonth] = [table.reference, sql`created_at > datetime('now', '-30 days')`];

export const orders: Orders = {
  async find(reference) {
    const [order] = await reader.select().from(table).where(eq(key, reference));
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isOrder = and(eq(key, reference), eq(table.currency, currency));
    const isDue = and(isOrder, eq(table.amount, amount), isNull(table.paidAt));
    const update = db.update(table).set({ paidAt: sql`CURRENT_TIMESTAMP` });
    return update.where(isDue).run().changes;
  },
  unpaid: () => references(isNull(table.paidAt)),
  paid: () => references(isNotNull(table.paidAt)),
};

async function references(condition: SQL): Promise<string[]> {
  const rows = reader.select({ key }).from(table).where(and(condition, lastMonth));
  return (await rows.orderBy(table.createdAt)).map(({ key }) => key);
}

export const close = () => [db, reader].map(({ $client }) => $client.close());
