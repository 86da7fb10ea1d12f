import type { PGlite, Transaction } from '@electric-sql/pglite';
import { createReceiver } from '@paylink/core';
import { guardedPool, postgresStore } from '@paylink/postgres';
import type { Client, ClientBase, Pool, PoolClient } from 'pg';

declare const pool: Pool;
declare const client: Client;
declare const lite: PGlite;
declare const secret: string;

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(equal: Equal<A, B>): void;

// The client of pg, as every function that takes one takes it.
createReceiver(
  { secret, idempotency: postgresStore(pool) },
  {
    'payment.succeeded': async ({ reference }, { tx }) => {
      same<typeof tx, PoolClient>(true);
      const base: ClientBase = tx;
      const { rows } = await tx.query<{ amount: number }>('SELECT amount FROM orders WHERE reference = $1', [reference]);
      const amount: number = rows[0]!.amount;
      // @ts-expect-error -- a number is no text
      const text: string = rows[0]!.amount;
      // @ts-expect-error -- the pool is not the transaction
      tx.totalCount;
      // @ts-expect-error -- Drizzle's, not pg's
      tx.update;
    },
  },
);

createReceiver(
  { secret, idempotency: postgresStore(guardedPool(pool)) },
  { 'payment.succeeded': (_, { tx }) => same<typeof tx, PoolClient>(true) },
);

createReceiver(
  { secret, idempotency: { store: postgresStore(lite), key: ({ reference }) => reference } },
  {
    'payment.succeeded': (_, { tx }) => {
      same<typeof tx, Transaction>(true);
      // @ts-expect-error -- pg's, not PGlite's
      tx.escapeLiteral;
    },
  },
);

// What `tx` makes of the client is what handlers get.
createReceiver(
  {
    secret,
    idempotency: postgresStore(pool, { tx: (of: PoolClient) => ({ credit: (reference: string) => of.query(reference) }) }),
  },
  {
    'payment.succeeded': ({ reference }, { tx }) => {
      // @ts-expect-error -- a number is no reference
      void tx.credit(42);
      // @ts-expect-error -- the client is not there any more
      tx.query;
      return tx.credit(reference);
    },
  },
);

interface Orm {
  insert(row: string): Promise<void>;
}
declare const orm: { transaction<T>(work: (tx: Orm) => Promise<T>, settings?: { retries: number }): Promise<T> };
createReceiver(
  { secret, idempotency: postgresStore(orm, { query: async (tx, sql) => (same<typeof tx, Orm | undefined>(true), [sql]) }) },
  { 'payment.succeeded': ({ reference }, { tx }) => tx.insert(reference) },
);

// @ts-expect-error -- without a store there is no transaction
createReceiver({ secret }, { 'payment.succeeded': (_, { tx }) => undefined });

// @ts-expect-error -- nothing to stand on
postgresStore();
// @ts-expect-error -- a single client
postgresStore(client);
// @ts-expect-error -- an address is no pool
postgresStore('postgres://localhost/shop');
// @ts-expect-error -- a misspelt option
postgresStore(pool, { tabel: 'marks' });
// @ts-expect-error -- no such isolation
postgresStore(pool, { isolation: 'snapshot' });
// @ts-expect-error -- PGlite begins its own transactions
postgresStore(lite, { isolation: 'serializable' });
// @ts-expect-error -- a date, not a number of days
void postgresStore(pool).forget({ olderThan: 30 });
