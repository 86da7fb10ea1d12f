import { readFileSync } from 'node:fs';
import { createPayments } from '@paylink/payments';
import { createPool } from 'mysql2/promise';
import { afterAll, expect, it, vi } from 'vitest';
import { startMariaDb } from '../../../test/servers/mariadb.js';
import { testRecipe, type Recipe, type RecipeOptions } from './suite.js';

const TABLE = readFileSync(new URL('../tables/mysql.sql', import.meta.url), 'utf8');

// In seconds. The default is 50.
await import('../generate.mjs');
const server = await startMariaDb({ 'innodb-lock-wait-timeout': 1 });
process.env['DATABASE_URL'] = server.url;
const merchant = createPool(server.url);
await merchant.query(TABLE);
afterAll(async () => {
  await merchant.end();
  await server.close();
});

const mysql2 = await import('../mysql2.js');
const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    merchant.execute('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)', [
      reference,
      amount,
      currency,
    ]),
  later: {
    edit: (reference) =>
      merchant.execute('UPDATE orders SET currency = ? WHERE reference = ?', ['XOF', reference]),
    refund: (reference) =>
      merchant.execute('UPDATE orders SET refunded_at = NOW() WHERE reference = ?', [reference]),
  },
};
const elsewhere = mysql2.orders.find;

const typeOrm = await import('../typeorm-mysql.js');
const recipes: Record<string, Recipe> = {
  mariadb: await import('../mariadb.js'),
  Drizzle: await import('../drizzle-mysql.js'),
  Prisma: await import('../prisma-mysql.js'),
};
for (const [name, recipe] of Object.entries(recipes))
  testRecipe(name, recipe, { ...options, elsewhere });
testRecipe('mysql2', mysql2, options);
testRecipe('TypeORM', typeOrm, {
  ...options,
  elsewhere,
  async createOrder({ reference, amount, currency }) {
    const order = { reference, amount: String(amount), currency };
    await (await typeOrm.db).manager.insert(typeOrm.OrderRow, order);
  },
});

it.each(Object.entries({ ...recipes, mysql2, TypeORM: typeOrm }))(
  'answers 503 through %s while another transaction holds the order, and credits afterwards',
  async (name, { orders }) => {
    const reference = `held for ${name}`;
    const payment = { reference, status: 'success', amount: 1_500, currency: 'XOF' } as const;
    const payments = createPayments({
      client: { getPayment: async () => payment },
      orders,
      logger: { warn: () => undefined, error: () => undefined },
    });
    const event = {
      type: 'payment.succeeded',
      reference,
      payload: { reference },
      rawBody: new Uint8Array(),
      secretIndex: 0,
      tenant: null,
    } as const;
    await options.createOrder({ ...payment, tenant: null });
    const holder = await merchant.getConnection();
    await holder.beginTransaction();
    await holder.query('SELECT * FROM orders WHERE reference = ? FOR UPDATE', [reference]);
    await expect(payments.receive(event)).rejects.toMatchObject({ status: 503 });
    await holder.rollback();
    holder.release();
    await payments.receive(event);
    expect(await orders.find(reference, {} as never)).toMatchObject({ paid: true });
  },
);

it('keeps the parameters of DATABASE_URL in the pool of find', async () => {
  vi.stubEnv('DATABASE_URL', `${server.url}?bigIntAsNumber=true`);
  vi.resetModules();
  const { orders, close } = await import('../mariadb.js');
  vi.unstubAllEnvs();
  const signal = new AbortController().signal;
  await merchant.query("INSERT INTO orders (reference, amount, currency) VALUES ('url', 5, 'XOF')");
  // The driver reads a bigint as a BigInt without this parameter.
  expect(await orders.find('url', { tenant: null, signal })).toMatchObject({ amount: 5 });
  await close();
});
