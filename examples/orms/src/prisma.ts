import { paymentWebhook } from '@paylink/express';
import { postgresStore } from '@paylink/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import { isDue } from '../../shop/src/credit-order.js';
import type { Confirm } from './confirm.js';
import { PrismaClient, type Prisma } from '../.cache/prisma/client.js';

interface Order {
  amount: number;
  paid_at: Date | null;
}

export async function createApp(secret: string | undefined, pool: Pool, confirm: Confirm): Promise<Express> {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  // Prisma gives a transaction 5 seconds; the webhook's handlerTimeout, 25 seconds by default, is what should end it.
  const settings = { timeout: 30_000, maxWait: 10_000 };
  const store = postgresStore(
    { transaction: (work: (tx: Prisma.TransactionClient) => Promise<void>) => prisma.$transaction(work, settings) },
    { query: (tx, text) => (tx ?? prisma).$queryRawUnsafe(text) },
  );
  await store.migrate();

  const webhook = paymentWebhook(
    { secret, confirm, idempotency: store },
    {
      'payment.succeeded': async (_event, { tx, payment }) => {
        const { reference } = payment;
        // Raw, because Prisma has no FOR UPDATE.
        const [order] = await tx.$queryRaw<Order[]>`SELECT amount, paid_at FROM orders WHERE reference = ${reference} FOR UPDATE`;
        if (!isDue(order, payment)) return;
        await tx.order.update({ where: { reference }, data: { credited: { increment: order!.amount }, paidAt: new Date() } });
      },
    },
  );
  return express().post('/webhooks/payments', webhook);
}
