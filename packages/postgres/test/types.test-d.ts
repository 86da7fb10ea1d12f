import type { PGlite } from '@electric-sql/pglite';
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import type { drizzle } from 'drizzle-orm/node-postgres';
import type { Client, Pool, PoolClient } from 'pg';

declare const pool: Pool;
declare const client: Client;
declare const lite: PGlite;
declare const db: ReturnType<typeof drizzle>;
declare const service: {
  getPayment(reference: string): Promise<{ reference: string; status: 'success'; amount: number }>;
};

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(equal: Equal<A, B>): void;

createPayments({
  client: service,
  store: postgresStore(pool),
  credit: async ({ reference, amount }, { tx }) => {
    same<typeof tx, Pick<PoolClient, 'query'>>(true);
    const sql = 'SELECT amount FROM orders WHERE reference = $1 FOR UPDATE';
    const { rows } = await tx.query<{ amount: number }>(sql, [reference]);
    const due: number = rows[0]!.amount - amount;
    // @ts-expect-error -- a number is no text
    const text: string = rows[0]!.amount;
    // @ts-expect-error -- the transaction is the store's
    void tx.release;
    // @ts-expect-error -- Drizzle's, not pg's
    tx.update;
    return (await tx.query('UPDATE orders SET paid = true WHERE $1 = 0', [due])).rowCount;
  },
});

createPayments({
  client: service,
  store: postgresStore(lite),
  credit: async (_, { tx }) => {
    // @ts-expect-error -- a script could end the transaction
    tx.exec;
    return (await tx.query('UPDATE orders SET paid = true')).affectedRows ?? 0;
  },
});

createPayments({
  client: service,
  store: postgresStore(db),
  credit: async (_, { tx }) => (await tx.execute('UPDATE orders SET paid = true')).rowCount,
});

// `tx` is whatever the option makes of the client.
createPayments({
  client: service,
  store: postgresStore(pool, {
    tx: (of: PoolClient) => ({ credit: (reference: string) => of.query(reference) }),
  }),
  credit: async ({ reference }, { tx }) => {
    // @ts-expect-error -- a number is no reference
    void tx.credit(42);
    // @ts-expect-error -- the client is not there any more
    tx.query;
    return (await tx.credit(reference)).rowCount;
  },
});

interface Orm {
  insert(row: string): Promise<number>;
}
declare const orm: { begin(work: (tx: Orm) => Promise<void>): Promise<void> };
createPayments({
  client: service,
  store: postgresStore({
    transaction: (work: (tx: Orm) => Promise<void>) => orm.begin(work),
    query: async (tx, sql) => (same<typeof tx, Orm | undefined>(true), [sql]),
  }),
  credit: ({ reference }, { tx }) => tx.insert(reference),
});

// @ts-expect-error -- no database
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
