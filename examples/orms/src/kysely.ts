import { paymentWebhook } from '@paylink/express';
import { createPayments, type PaymentClient } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import express, { type Express } from 'express';
import { Kysely, PostgresDialect, sql, type Generated, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import { isDue, type Payment } from './due.js';

interface Database {
  orders: {
    reference: string;
    amount: number;
    currency: string;
    credited: Generated<number>;
    paid_at: Date | null;
  };
}

type Tx = Transaction<Database>;

export async function createApp(
  secret: string | undefined,
  pool: Pool,
  client: PaymentClient<Payment>,
): Promise<Express> {
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  const store = postgresStore({
    transaction: (work: (tx: Tx) => Promise<void>) => db.transaction().execute(work),
    query: async (tx: Tx | undefined, text) => (await sql.raw(text).execute(tx ?? db)).rows,
  });
  await store.migrate();

  const payments = createPayments({
    client,
    store,
    async credit(payment, { tx }) {
      const order = await tx
        .selectFrom('orders')
        .select(['amount', 'currency', 'paid_at as paidAt'])
        .where('reference', '=', payment.reference)
        .forUpdate()
        .executeTakeFirst();
      if (!isDue(order, payment)) return 'already_credited';
      const { numUpdatedRows } = await tx
        .updateTable('orders')
        .set((column) => ({
          credited: column('credited', '+', column.ref('amount')),
          paid_at: sql`now()`,
        }))
        .where('reference', '=', payment.reference)
        .executeTakeFirst();
      return numUpdatedRows;
    },
  });
  return express().post('/webhooks/payments', paymentWebhook({ secret }, payments));
}
