import type { Orders } from '@paylink/payments';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './.cache/postgresql/client.js';

const adapter = new PrismaPg({ connectionString: process.env['DATABASE_URL'] });
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
