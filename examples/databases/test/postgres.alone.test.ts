import { createPayments, type Order, type Orders } from '@paylink/payments';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openPostgres } from './on-postgres.js';
import { testRecipe, testVariant, type Recipe, type RecipeOptions } from './suite.js';

await import('../generate.mjs');
const merchant = await openPostgres('postgres', 'postgres-variants');
await merchant.query("INSERT INTO wallets VALUES ('ada', 0)");

async function findElsewhere(table: string, reference: string): Promise<Order | undefined> {
  const { rows } = await merchant.query<Order>(
    `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM ${table} WHERE reference = $1`,
    [reference],
  );
  return rows[0];
}

const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    merchant.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
      reference,
      amount,
      currency,
    ]),
  elsewhere: (reference) => findElsewhere('orders', reference),
  later: {
    edit: (reference) =>
      merchant.query('UPDATE orders SET created_at = created_at WHERE reference = $1', [reference]),
    refund: (reference) =>
      merchant.query('UPDATE orders SET refunded_at = now() WHERE reference = $1', [reference]),
  },
};

const drizzle = await import('../drizzle.js');
const prisma = await import('../prisma.js');
const kysely = await import('../kysely.js');
const typeOrm = await import('../typeorm.js');
const sequelize = await import('../sequelize.js');
const mikroOrm = await import('../mikro-orm.js');
const recipes: Record<string, Recipe> = {
  pg: await import('../pg.js'),
  'postgres.js': await import('../postgres-js.js'),
  Drizzle: drizzle,
  Prisma: prisma,
  Kysely: kysely,
  Knex: await import('../knex.js'),
  TypeORM: typeOrm,
  Sequelize: sequelize,
  MikroORM: mikroOrm,
};
for (const [name, recipe] of Object.entries(recipes)) testRecipe(name, recipe, options);

/** Leaves a transaction open through each handle that a recipe exports. */
const leaks: Record<string, Record<string, () => Promise<unknown>>> = {
  pg: {},
  'postgres.js': {},
  Knex: {},
  Drizzle: { db: () => drizzle.db.execute('BEGIN') },
  Prisma: { prisma: () => prisma.prisma.$executeRawUnsafe('BEGIN') },
  Kysely: { db: () => sql`BEGIN`.execute(kysely.db) },
  TypeORM: { db: () => typeOrm.db.query('BEGIN'), OrderRow: () => Promise.resolve() },
  Sequelize: { db: () => sequelize.db.query('BEGIN') },
  MikroORM: { db: () => mikroOrm.db.em.getConnection().execute('BEGIN') },
};

it.each(Object.keys(recipes))(
  'acknowledges nothing through %s that an open transaction of other code holds',
  { tags: 'Q05' },
  async (name) => {
    vi.spyOn(console, 'error').mockReturnValue(undefined);
    const { orders, close: _, ...handles } = recipes[name]!;
    expect(Object.keys(handles).sort()).toEqual(Object.keys(leaks[name]!).sort());
    const getPayment = async (reference: string) =>
      ({ reference, status: 'success', amount: 1_500, currency: 'XOF' }) as const;
    const logger = { warn: () => undefined, error: () => undefined };
    const payments = createPayments({ client: { getPayment }, orders, logger });
    for (const leak of Object.values(leaks[name]!)) await leak();
    const replies: number[] = [];
    for (let count = 0; count < 12; count++) {
      const reference = `leak ${count} through ${name}`;
      await options.createOrder({ reference, amount: 1_500, currency: 'XOF', tenant: null });
      const event = { type: 'payment.succeeded', reference, tenant: null } as never;
      const status = await payments.receive(event).then(
        () => 200,
        (error: unknown) => (error as { status: number }).status,
      );
      replies.push(status);
      if (status === 200)
        expect(await findElsewhere('orders', reference)).toMatchObject({ paid: true });
    }
    const isHeld = Object.keys(leaks[name]!).length > 0;
    expect(new Set(replies)).toEqual(new Set(isHeld ? [503] : [200]));
    await merchant.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'",
    );
  },
);

it.each(Object.keys(recipes))(
  'reads again through %s after the server cut it off',
  async (name) => {
    vi.spyOn(console, 'error').mockReturnValue(undefined);
    const findNothing = () =>
      expect
        .poll(async () => {
          const context = { tenant: null, signal: new AbortController().signal };
          return (await recipes[name]!.orders.find('unknown', context)) ?? null;
        })
        .toBeNull();
    // May fail once too: the cut of the test before reaches this recipe late on a busy machine.
    await findNothing();
    await merchant.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
    );
    await findNothing();
  },
);

const moreWrites: Record<string, Pick<Recipe, 'orders'>> = {
  pg: await import('../pg-more-writes.js'),
  Drizzle: await import('../drizzle-more-writes.js'),
  Prisma: await import('../prisma-more-writes.js'),
  TypeORM: await import('../typeorm-more-writes.js'),
};
for (const [name, { orders }] of Object.entries(moreWrites))
  testVariant(`${name} with more writes`, orders, {
    ...options,
    async effects(reference) {
      const receipts = 'SELECT 1 FROM outbox WHERE reference = $1';
      return (await merchant.query(receipts, [reference])).rowCount ?? 0;
    },
    async total() {
      const { rows } = await merchant.query<{ balance: string }>('SELECT balance FROM wallets');
      return rows[0]!.balance;
    },
  });

for (const [name, { orders }] of Object.entries(moreWrites))
  it(`${name} deposits into a wallet that has no row yet`, async () => {
    const payment = { reference: `first of ${name}`, amount: 1_500, currency: 'XOF' };
    await options.createOrder({ ...payment, tenant: null });
    await merchant.query('UPDATE orders SET wallet = $1 WHERE reference = $1', [payment.reference]);
    const context = { tenant: null, signal: new AbortController().signal };
    expect(await orders.credit(payment, { ...context, source: 'webhook' })).toBe(1);
    const { rows } = await merchant.query<{ balance: string }>(
      'DELETE FROM wallets WHERE id = $1 RETURNING balance',
      [payment.reference],
    );
    expect(rows).toEqual([{ balance: '1500' }]);
  });

const closing = await import('../pg-closing.js');
const cancel = (reference: string, status = 'pending'): Promise<boolean> =>
  closing.cancelOrder({ settle: () => Promise.resolve({ status } as never) }, reference);
testRecipe(
  'pg with orders that are cancelled',
  { orders: closing.orders, close: () => undefined },
  {
    ...options,
    later: { ...options.later, cancel: (reference) => cancel(reference) },
  },
);

it(
  'cancels no order that is paid, nor one that the service says nothing about',
  { tags: 'Q12' },
  async () => {
    const reference = 'cancelled once';
    await options.createOrder({ reference, amount: 1_500, currency: 'XOF', tenant: null });
    expect(await cancel(reference, 'unavailable')).toBe(false);
    expect(await cancel(reference, 'paid')).toBe(false);
    expect(await findElsewhere('orders', reference)).toMatchObject({ paid: false });
    expect(await cancel(reference)).toBe(true);
  },
);

testRecipe('pg with a customer who tries again', await import('../pg-attempts.js'), {
  async createOrder({ reference, amount, currency }) {
    await merchant.query(
      'WITH new AS (INSERT INTO purchases (id, amount, currency) VALUES ($1, $2, $3) RETURNING id) INSERT INTO attempts (reference, purchase) SELECT id, id FROM new',
      [reference, amount, currency],
    );
  },
  later: {
    async 'another link'(reference) {
      const next = `${reference} again`;
      await merchant.query(
        'INSERT INTO attempts (reference, purchase) SELECT $1, purchase FROM attempts WHERE reference = $2',
        [next, reference],
      );
      return next;
    },
  },
});

testRecipe('pg with tenants', await import('../pg-tenants.js'), {
  tenants: ['shop-a', 'shop-b'],
  createOrder: ({ reference, amount, currency, tenant }) =>
    merchant.query(
      'INSERT INTO tenant_orders (merchant, reference, amount, currency) VALUES ($1, $2, $3, $4)',
      [tenant, reference, amount, currency],
    ),
});

testRecipe('pg with a free amount', await import('../pg-free-amount.js'), {
  createOrder: ({ reference, amount, currency }) =>
    merchant.query(
      'INSERT INTO donations (reference, amount_min, amount_max, currency) VALUES ($1, 1, $2, $3)',
      [reference, amount * 2, currency],
    ),
});

const expiring = await import('../pg-expiring.js');
testRecipe('pg with orders that expire', expiring, {
  createOrder: ({ reference, amount, currency }) =>
    merchant.query(
      "INSERT INTO bookings (reference, amount, currency, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')",
      [reference, amount, currency],
    ),
  elsewhere: (reference) => findElsewhere('bookings', reference),
});

it('closes and refuses a booking that has expired', async () => {
  const { signal } = new AbortController();
  await merchant.query("INSERT INTO bookings VALUES ('late', 1500, 'XOF', now(), now(), NULL)");
  const { find, credit }: Orders = expiring.orders;
  expect(await find('late', { tenant: null, signal })).toMatchObject({ closed: true, paid: false });
  const payment = { reference: 'late', amount: 1500, currency: 'XOF' };
  expect(await credit(payment, { tenant: null, signal, source: 'webhook' })).toBe(0);
});

it.each(Object.keys(moreWrites))('%s leaves no mark if a further write fails', async (name) => {
  const { signal } = new AbortController();
  const reference = `half by ${name}`;
  const payment = { reference, amount: 1, currency: 'XOF' };
  await options.createOrder({ ...payment, tenant: null });
  await merchant.query("INSERT INTO outbox VALUES ('receipt', $1)", [reference]);
  const context = { tenant: null, signal, source: 'webhook' as const };
  const crediting = Promise.resolve(moreWrites[name]!.orders.credit(payment, context));
  await expect(crediting).rejects.toThrow();
  expect(await findElsewhere('orders', reference)).toMatchObject({ paid: false });
});
