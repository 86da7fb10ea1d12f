import type { Orders } from '@paylink/payments';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './.cache/postgresql/client.js';

const connectionString = process.env['DATABASE_URL'];
export const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) });
// Separate connections, so that find sees only committed rows.
const reader = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 2 }) });

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
