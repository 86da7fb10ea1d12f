import { readFileSync } from 'node:fs';
import type { Order, Orders } from '@paylink/payments';
import { Pool } from 'pg';
import { afterAll, expect, it, vi } from 'vitest';
import { startPostgres } from '../../../test/servers/postgres.js';
import { testRecipe, type Recipe, type RecipeOptions } from './suite.js';

const sqlOf = (name: string): string =>
  readFileSync(new URL(`../tables/${name}.sql`, import.meta.url), 'utf8');

await import('../generate.mjs');
const server = await startPostgres({ fsync: 'off' });
process.env['DATABASE_URL'] = server.url;
const merchant = new Pool({ connectionString: server.url, max: 2 });
merchant.on('error', () => undefined);
// Runs after the recipes are closed.
afterAll(async () => {
  await merchant.end();
  await server.close();
});
await merchant.query(sqlOf('postgres'));
await merchant.query(sqlOf('postgres-variants'));
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

const recipes: Record<string, Recipe> = {
  pg: await import('../pg.js'),
  'postgres.js': await import('../postgres-js.js'),
  Drizzle: await import('../drizzle.js'),
  Prisma: await import('../prisma.js'),
  Kysely: await import('../kysely.js'),
  Knex: await import('../knex.js'),
  TypeORM: await import('../typeorm.js'),
  Sequelize: await import('../sequelize.js'),
  MikroORM: await import('../mikro-orm.js'),
};
for (const [name, recipe] of Object.entries(recipes)) testRecipe(name, recipe, options);

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

const moreWrites = await import('../pg-more-writes.js');
testRecipe('pg with more writes', moreWrites, {
  ...options,
  async effects(reference) {
    const receipts = 'SELECT 1 FROM outbox WHERE reference = $1';
    return (await merchant.query(receipts, [reference])).rowCount ?? 0;
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

it('leaves neither mark nor receipt if a further write fails', async () => {
  const { signal } = new AbortController();
  await merchant.query(
    "INSERT INTO orders (reference, amount, currency) VALUES ('half', 1, 'XOF')",
  );
  await merchant.query("INSERT INTO outbox VALUES ('receipt', 'half')");
  const payment = { reference: 'half', amount: 1, currency: 'XOF' };
  const context = { tenant: null, signal, source: 'webhook' as const };
  const crediting = Promise.resolve(moreWrites.orders.credit(payment, context));
  await expect(crediting).rejects.toThrow(/unique/);
  expect(await findElsewhere('orders', 'half')).toMatchObject({ paid: false });
});
