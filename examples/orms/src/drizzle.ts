import { paymentWebhook } from '@paylink/express';
import { guardedPool, postgresStore } from '@paylink/postgres';
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import { isDue } from '../../shop/src/credit-order.js';
import type { Confirm } from './confirm.js';

export const orders = pgTable('orders', {
  reference: text().primaryKey(),
  amount: integer().notNull(),
  credited: integer().notNull().default(0),
  paidAt: timestamp('paid_at', { withTimezone: true }),
});

export async function createApp(secret: string | undefined, pool: Pool, confirm: Confirm): Promise<Express> {
  // Guarded, so that a handler whose time is over cannot write by a connection that has gone back to the pool.
  const db = drizzle({ client: guardedPool(pool) });
  const store = postgresStore(db);
  await store.migrate();

  const webhook = paymentWebhook(
    { secret, confirm, idempotency: store },
    {
      'payment.succeeded': async (_event, { tx, payment }) => {
        const isOrder = eq(orders.reference, payment.reference);
        const [order] = await tx.select().from(orders).where(isOrder).for('update');
        if (!isDue(order && { amount: order.amount, paid_at: order.paidAt }, payment)) return;
        const credit = { credited: sql`${orders.credited} + ${orders.amount}`, paidAt: sql`now()` };
        await tx.update(orders).set(credit).where(isOrder);
      },
    },
  );
  return express().post('/webhooks/payments', webhook);
}
