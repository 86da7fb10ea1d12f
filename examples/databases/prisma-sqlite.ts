import type { Orders } from '@paylink/payments';
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { PrismaClient } from './.cache/sqlite/client.js';

const adapter = new PrismaBetterSqlite3({ url: process.env['DATABASE_FILE'] ?? 'shop.db' });
export const prisma = new PrismaClient({ adapter });

export const orders: Orders = {
  async find(reference) {
    const order = await prisma.order.findUnique({ where: { reference } });
    return order && { ...order, paid: order.paidAt !== null };
  },
  async credit({ reference, amount, currency }) {
    // Never `update`: on some databases it reads first, and then writes without the condition.
    const { count } = await prisma.order.updateMany({
      where: { reference, amount, currency, paidAt: null },
      data: { paidAt: new Date() },
    });
    return count;
  },
  async unpaid() {
    const since = new Date(Date.now() - 30 * 86_400_000);
    const rows = await prisma.order.findMany({
      where: { paidAt: null, createdAt: { gt: since } },
      orderBy: { createdAt: 'asc' },
      select: { reference: true },
    });
    return rows.map(({ reference }) => reference);
  },
};

export const close = () => prisma.$disconnect();
