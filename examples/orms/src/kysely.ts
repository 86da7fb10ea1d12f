import { paymentWebhook } from '@paylink/express';
import { guardedPool, postgresStore } from '@paylink/postgres';
import express, { type Express } from 'express';
import { Kysely, PostgresDialect, sql, type Generated, type Transaction } from 'kysely';
import type { Pool } from 'pg';

interface Database {
  orders: { reference: string; amount: number; credited: Generated<number>; paid_at: Date | null };
}

export async function createApp(secret: string | undefined, pool: Pool): Promise<Express> {
  // Guarded, so that a handler whose time is over cannot write by a connection that has gone back to the pool.
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: guardedPool(pool) }) });
  const store = postgresStore(
    { transaction: (work: (tx: Transaction<Database>) => Promise<void>) => db.transaction().execute(work) },
    { query: async (tx, text) => (await sql.raw(text).execute(tx ?? db)).rows },
  );
  await store.migrate();

  const webhook = paymentWebhook(
    { secret, idempotency: store },
    {
      'payment.succeeded': async ({ reference }, { tx }) => {
        const credited = await tx
          .updateTable('orders')
          .set((column) => ({ credited: column('credited', '+', column.ref('amount')), paid_at: sql`now()` }))
          .where('reference', '=', reference)
          .executeTakeFirst();
        if (credited.numUpdatedRows === 0n) throw new Error('no such order');
      },
    },
  );
  return express().post('/webhooks/payments', webhook);
}
