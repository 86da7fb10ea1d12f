import type { Orders } from '@paylink/payments';
import { and, eq, isNotNull, isNull, sql, type SQL } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

const { DATABASE_URL: connectionString = '' } = process.env;
export const db = drizzle(connectionString);
const reader = drizzle({ connection: { connectionString, max: 2 } }); // sees only committed rows
const clients = [db.$client, reader.$client]; // each needs an error listener, or the process ends
for (const each of clients) each.on('error', ({ message }) => console.error(message));
const table = pgTable('orders', {
  reference: text().primaryKey(),
  amount: bigint({ mode: 'bigint' }).notNull(),
  currency: text().notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  paidAt: timestamp('paid_at', { withTimezone: true }),
});
const [key, lastMonth] = [table.reference, sql`created_at > now() - interval '30 days'`];

export const orders: Orders = {
  async find(reference) {
    const [order] = await reader.select().from(table).where(eq(key, reference));
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    const isOrder = and(eq(key, reference), eq(table.currency, currency));
    const isDue = and(isOrder, eq(table.amount, BigInt(amount)), isNull(table.paidAt));
    const set = { paidAt: sql`now()` };
    return (await db.update(table).set(set).where(isDue)).rowCount;
  },
  unpaid: () => references(isNull(table.paidAt)),
  paid: () => references(isNotNull(table.paidAt)),
};

async function references(condition: SQL): Promise<string[]> {
  const rows = reader.select({ key }).from(table).where(and(condition, lastMonth));
  return (await rows.orderBy(table.createdAt)).map(({ key }) => key);
}

export const close = () => Promise.all(clients.map((client) => client.end()));
