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
        INSERT INTO wallets SELECT wallet, amount FROM orders WHERE reference = ${reference}
        ON CONFLICT (id) DO UPDATE SET balance = wallets.balance + excluded.balance`;
      await tx.$executeRaw`INSERT INTO outbox VALUES ('receipt', ${reference})`;
      return count;
    }),
};

export { close } from './prisma.js';
