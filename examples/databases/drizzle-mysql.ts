import type { Orders } from '@paylink/payments';
import { and, eq, gt, isNotNull, isNull, sql, type SQL } from 'drizzle-orm';
import { bigint, datetime, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle } from 'drizzle-orm/mysql2';

const uri = process.env['DATABASE_URL'] ?? '';
export const db = drizzle(uri);
// Separate connections, so that find sees only committed rows.
const reader = drizzle({ connection: { uri, connectionLimit: 2 } });
const table = mysqlTable('orders', {
  reference: varchar({ length: 64 }).primaryKey(),
  amount: bigint({ mode: 'bigint' }).notNull(),
  currency: varchar({ length: 3 }).notNull(),
  createdAt: datetime('created_at').notNull(),
  paidAt: datetime('paid_at'),
});
const { reference: key } = table;
const lastMonth = gt(table.createdAt, sql`now() - interval 30 day`);

export const orders: Orders = {
  async find(reference) {
    const [order] = await reader.select().from(table).where(eq(key, reference));
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isOrder = and(eq(key, reference), eq(table.currency, currency));
    const isDue = and(isOrder, eq(table.amount, BigInt(amount)), isNull(table.paidAt));
    const set = { paidAt: sql`now()` };
    return (await db.update(table).set(set).where(isDue))[0].affectedRows;
  },
  unpaid: () => references(isNull(table.paidAt)),
  paid: () => references(isNotNull(table.paidAt)),
};

async function references(condition: SQL): Promise<string[]> {
  const rows = reader.select({ key }).from(table).where(and(condition, lastMonth));
  return (await rows.orderBy(table.createdAt)).map(({ key }) => key);
}

export const close = () => Promise.all([db, reader].map(({ $client }) => $client.promise().end()));
