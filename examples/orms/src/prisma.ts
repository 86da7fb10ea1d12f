import { paymentWebhook } from '@paylink/express';
import { createPayments, type PaymentClient } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import { PrismaClient, type Prisma } from '../.cache/prisma/client.js';
import { isDue, type Payment } from './due.js';

type Tx = Prisma.TransactionClient;

/** Prisma ends a transaction after 5 seconds. The webhook's handlerTimeout of 25 seconds should. */
const SETTINGS = { timeout: 30_000, maxWait: 10_000 };

export async function createApp(
  secret: string | undefined,
  pool: Pool,
  client: PaymentClient<Payment>,
): Promise<Express> {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const store = postgresStore({
    transaction: (work: (tx: Tx) => Promise<void>) => prisma.$transaction(work, SETTINGS),
    query: (tx: Tx | undefined, sql) => (tx ?? prisma).$queryRawUnsafe<unknown[]>(sql),
  });
  await store.migrate();

  const payments = createPayments({
    client,
    store,
    async credit(payment, { tx }) {
      const { reference } = payment;
      // Prisma has no FOR UPDATE of its own.
      await tx.$executeRaw`SELECT 1 FROM orders WHERE reference = ${reference} FOR UPDATE`;
      const order = await tx.order.findUnique({ where: { reference } });
      if (!isDue(order ?? undefined, payment)) return 'already_credited';
      const { count } = await tx.order.updateMany({
        where: { reference },
        data: { credited: { increment: order!.amount }, paidAt: new Date() },
      });
      return count;
    },
  });
  return express().post('/webhooks/payments', paymentWebhook({ secret }, payments));
}
