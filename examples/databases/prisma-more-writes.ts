import type { Orders } from '@paylink/payments';
import { orders as plain, prisma } from './prisma.js';

export const orders: Orders = {
  ...plain,
  credit: ({ reference, amount, currency }) =>
    prisma.$transaction(async (tx) => {
      const isDue = { reference, amount, currency, paidAt: null };
      const { count } = await tx.order.updateMany({ where: isDue, data: { paidAt: new Date() } });
      if (count === 0) return 0;
      await tx.$executeRaw`
        UPDATE wallets SET balance = balance + ${amount}
        WHERE id = (SELECT wallet FROM orders WHERE reference = ${reference})`;
      await tx.$executeRaw`INSERT INTO outbox VALUES ('receipt', ${reference})`;
      return count;
    }),
};

export { close } from './prisma.js';
