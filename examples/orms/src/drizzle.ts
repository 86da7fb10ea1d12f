import { paymentWebhook } from '@paylink/express';
import { createPayments, type PaymentClient } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import express, { type Express } from 'express';
import type { Pool } from 'pg';
import { isDue, type Payment } from './due.js';

export const orders = pgTable('orders', {
  reference: text().primaryKey(),
  amount: integer().notNull(),
  currency: text().notNull(),
  credited: integer().notNull().default(0),
  paidAt: timestamp('paid_at', { withTimezone: true }),
});

export async function createApp(
  secret: string | undefined,
  pool: Pool,
  client: PaymentClient<Payment>,
): Promise<Express> {
  const store = postgresStore(drizzle({ client: pool }));
  await store.migrate();

  const payments = createPayments({
    client,
    store,
    async credit(payment, { tx }) {
      const isOrder = eq(orders.reference, payment.reference);
      const [order] = await tx.select().from(orders).where(isOrder).for('update');
      if (!isDue(order, payment)) return 'already_credited';
      const credit = {
        credited: sql`${orders.credited} + ${orders.amount}`,
        paidAt: sql`now()`,
      };
      return (await tx.update(orders).set(credit).where(isOrder)).rowCount;
    },
  });
  return express().post('/webhooks/payments', paymentWebhook({ secret }, payments));
}
