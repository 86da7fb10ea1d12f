import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { and, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/engines/postgres.js';
import { orders } from '../src/drizzle.js';

let postgres: PostgresServer;
let pool: Pool;
beforeAll(async () => {
  postgres = await startPostgres({ fsync: 'off' });
  pool = new Pool({ connectionString: postgres.url });
  await pool.query(
    'CREATE TABLE orders (reference text PRIMARY KEY, amount int NOT NULL, credited int NOT NULL DEFAULT 0, paid_at timestamptz)',
  );
  await postgresStore(pool).migrate();
}, 120_000);
afterAll(async () => {
  await pool.end();
  await postgres.close();
});

interface Tables {
  orders: { reference: string; amount: number; credited: number };
}

/** How an ORM over the client of the store's transaction pays an order, and finds that it is there already. */
interface Orm {
  pay(tx: PoolClient, reference: string): Promise<unknown>;
  insertAgain(tx: PoolClient, reference: string): Promise<unknown>;
}

function kyselyOn(client: PoolClient): Kysely<Tables> {
  const one = { connect: () => Promise.resolve(client), end: () => Promise.resolve(), options: {} };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: one }) });
}

const orms: Record<string, Orm> = {
  Drizzle: {
    pay: (tx, reference) =>
      drizzle({ client: tx })
        .update(orders)
        .set({ credited: 1 })
        .where(and(eq(orders.reference, reference), eq(orders.credited, 0))),
    insertAgain: (tx, reference) => drizzle({ client: tx }).insert(orders).values({ reference, amount: 1 }).onConflictDoNothing(),
  },
  Kysely: {
    pay: (tx, reference) =>
      kyselyOn(tx)
        .updateTable('orders')
        .set({ credited: 1 })
        .where('reference', '=', reference)
        .where('credited', '=', 0)
        .execute(),
    insertAgain: (tx, reference) =>
      kyselyOn(tx)
        .insertInto('orders')
        .values({ reference, amount: 1, credited: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
  },
};

describe.each(Object.entries(orms))('%s over the client of the store', (name, orm) => {
  const run = (store: PostgresStore<PoolClient>, key: string, work: (tx: PoolClient) => Promise<unknown>): Promise<unknown> => {
    const { signal } = new AbortController();
    const running = store.run(
      key,
      async ({ tx }) => {
        await work(tx);
      },
      { signal },
    );
    return running.catch((error: unknown) => error);
  };

  it('is refused where the order is not there yet, and pays it on the retry (N01)', async () => {
    const store = postgresStore(pool);
    const reference = `late-${name}`;
    const pay = () => run(store, reference, (tx) => orm.pay(tx, reference));
    expect(await pay()).toMatchObject({ code: 'nothing_written' });
    await pool.query('INSERT INTO orders VALUES ($1, 5000)', [reference]);
    expect(await pay()).toBe('done');
    const { rows } = await pool.query('SELECT credited FROM orders WHERE reference = $1', [reference]);
    expect(rows).toEqual([{ credited: 1 }]);
  });

  it('is done where the order was paid before (N02)', async () => {
    const reference = `paid-${name}`;
    await pool.query('INSERT INTO orders VALUES ($1, 5000, 1)', [reference]);
    const work = async (tx: PoolClient): Promise<void> => {
      await orm.insertAgain(tx, reference);
      await orm.pay(tx, reference);
    };
    expect(await run(postgresStore(pool), reference, work)).toBe('done');
  });
});
