import type { Orders } from '@paylink/payments';
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { PrismaClient } from './.cache/sqlite/client.js';

const url = process.env['DATABASE_FILE'] ?? 'shop.db';
// Add timestampFormat: 'unixepoch-ms' if Prisma 6 or earlier has stored your dates as numbers.
export const prisma = new PrismaClient({ adapter: new PrismaBetterSqlite3({ url }) });
// A separate connection, so that find sees only committed rows.
const reader = new PrismaClient({ adapter: new PrismaBetterSqlite3({ url }) });

export const orders: Orders = {
  async find(reference) {
    const order = await reader.order.findUnique({ where: { reference } });
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    // Never use `update`: on some databases, it first reads and then writes without the condition.
    const { count } = await prisma.order.updateMany({
      where: { reference, amount, currency, paidAt: null },
      data: { paidAt: new Date() },
    });
    return count;
  },
  unpaid: () => references(null),
  paid: () => references({ not: null }),
};

async function references(paidAt: { not: null } | null): Promise<string[]> {
  const createdAt = { gt: new Date(Date.now() - 30 * 86_400_000) };
  const query = { where: { paidAt, createdAt }, orderBy: { createdAt: 'asc' } } as const;
  return (await reader.order.findMany(query)).map(({ reference }) => reference);
}

export const close = () => Promise.all([prisma.$disconnect(), reader.$disconnect()]);
