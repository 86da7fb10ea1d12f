import { paymentWebhook } from '@paylink/express';
import { postgresStore } from '@paylink/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import { PrismaClient, type Prisma } from '../.cache/prisma/client.js';

export async function createApp(secret: string | undefined, pool: Pool): Promise<Express> {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  // Prisma gives a transaction 5 seconds; the webhook's handlerTimeout, 25 seconds by default, is what should end it.
  const settings = { timeout: 30_000, maxWait: 10_000 };
  const store = postgresStore(
    { transaction: (work: (tx: Prisma.TransactionClient) => Promise<void>) => prisma.$transaction(work, settings) },
    { query: (tx, text) => (tx ?? prisma).$queryRawUnsafe(text) },
  );
  await store.migrate();

  const webhook = paymentWebhook(
    { secret, idempotency: store },
    {
      'payment.succeeded': async ({ reference }, { tx }) => {
        const { amount } = await tx.order.findUniqueOrThrow({ where: { reference } });
        await tx.order.update({ where: { reference }, data: { credited: { increment: amount }, paidAt: new Date() } });
      },
    },
  );
  return express().post('/webhooks/payments', webhook);
}
