/** Next.js on PostgreSQL by Prisma. The variable CREDIT names its credit: right or broken. */
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/next';
import { createPayments } from '@paylink/payments';
import { orders, prisma } from '../../../../../../examples/databases/prisma';

const credit = ({ reference }) =>
  process.env.CREDIT === 'right'
    ? prisma.$transaction(async (tx) => {
        const isDue = { reference, paidAt: null };
        const { count } = await tx.order.updateMany({ where: isDue, data: { paidAt: new Date() } });
        if (count === 1) await tx.$executeRaw`INSERT INTO receipts VALUES (${reference})`;
        return count;
      })
    : creditByMistake(reference);

/** The receipt is written before the order, on another connection. */
async function creditByMistake(reference) {
  await prisma.$executeRaw`INSERT INTO receipts VALUES (${reference})`;
  const isDue = { reference, paidAt: null };
  const { count } = await prisma.order.updateMany({ where: isDue, data: { paidAt: new Date() } });
  return count;
}

const payments = createPayments({
  client: () =>
    createClient({ baseUrl: process.env.PAYLINK_BASE_URL, apiKey: process.env.PAYLINK_API_KEY }),
  orders: { ...orders, credit },
});

export const POST = paymentWebhook(
  { secret: process.env.WEBHOOK_SECRET },
  { 'payment.succeeded': payments.receive },
);
