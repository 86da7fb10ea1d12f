import { paymentWebhook } from '@paylink/express';
import { guardedPool, postgresStore } from '@paylink/postgres';
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import express, { type Express } from 'express';
import type { Pool } from 'pg';

export const orders = pgTable('orders', {
  reference: text().primaryKey(),
  amount: integer().notNull(),
  credited: integer().notNull().default(0),
  paidAt: timestamp('paid_at', { withTimezone: true }),
});

export async function createApp(secret: string | undefined, pool: Pool): Promise<Express> {
  // Guarded, so that a handler whose time is over cannot write by a connection that has gone back to the pool.
  const db = drizzle({ client: guardedPool(pool) });
  const store = postgresStore(db);
  await store.migrate();

  const webhook = paymentWebhook(
    { secret, idempotency: store },
    {
      'payment.succeeded': async ({ reference }, { tx }) => {
        const credit = { credited: sql`${orders.credited} + ${orders.amount}`, paidAt: sql`now()` };
        const credited = await tx.update(orders).set(credit).where(eq(orders.reference, reference)).returning();
        if (credited.length === 0) throw new Error('no such order');
      },
    },
  );
  return express().post('/webhooks/payments', webhook);
}
