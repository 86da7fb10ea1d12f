import type { Orders } from '@paylink/payments';
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import { bigint, datetime, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle } from 'drizzle-orm/mysql2';

export const db = drizzle(process.env['DATABASE_URL'] ?? '');
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
    const [order] = await db.select().from(table).where(eq(key, reference));
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isOrder = and(eq(key, reference), eq(table.currency, currency));
    const isDue = and(isOrder, eq(table.amount, BigInt(amount)), isNull(table.paidAt));
    const [result] = await db
      .update(table)
      .set({ paidAt: sql`now()` })
      .where(isDue);
    return result.affectedRows;
  },
  async unpaid() {
    const isUnpaid = and(isNull(table.paidAt), lastMonth);
    const rows = await db.select({ key }).from(table).where(isUnpaid).orderBy(table.createdAt);
    return rows.map(({ key }) => key);
  },
};

export const close = () => db.$client.end();
