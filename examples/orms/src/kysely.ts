import { paymentWebhook } from '@paylink/express';
import { guardedPool, postgresStore } from '@paylink/postgres';
import express, { type Express } from 'express';
import { Kysely, PostgresDialect, sql, type Generated, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import { isDue } from '../../shop/src/credit-order.js';
import type { Confirm } from './confirm.js';

interface Database {
  orders: { reference: string; amount: number; credited: Generated<number>; paid_at: Date | null };
}

export async function createApp(secret: string | undefined, pool: Pool, confirm: Confirm): Promise<Express> {
  // Guarded, so that a handler whose time is over cannot write by a connection that has gone back to the pool.
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: guardedPool(pool) }) });
  const store = postgresStore(
    { transaction: (work: (tx: Transaction<Database>) => Promise<void>) => db.transaction().execute(work) },
    { query: async (tx, text) => (await sql.raw(text).execute(tx ?? db)).rows },
  );
  await store.migrate();

  const webhook = paymentWebhook(
    { secret, confirm, idempotency: store },
    {
      'payment.succeeded': async (_event, { tx, payment }) => {
        const order = await tx
          .selectFrom('orders')
          .select(['amount', 'paid_at'])
          .where('reference', '=', payment.reference)
          .forUpdate()
          .executeTakeFirst();
        if (!isDue(order, payment)) return;
        await tx
          .updateTable('orders')
          .set((column) => ({ credited: column('credited', '+', column.ref('amount')), paid_at: sql`now()` }))
          .where('reference', '=', payment.reference)
          .execute();
      },
    },
  );
  return express().post('/webhooks/payments', webhook);
}
