import { readFileSync } from 'node:fs';
import { createPool } from 'mysql2/promise';
import { afterAll, expect, it } from 'vitest';
import { startMariaDb } from '../../../test/servers/mariadb.js';
import { testRecipe } from './suite.js';

const server = await startMariaDb({ 'innodb-lock-wait-timeout': 1 });
process.env['DATABASE_URL'] = server.url;
const merchant = createPool(server.url);
await merchant.query(readFileSync(new URL('../tables/mysql.sql', import.meta.url), 'utf8'));
afterAll(async () => {
  await merchant.end();
  await server.close();
});

const recipe = await import('../typeorm-mysql.js');
testRecipe('TypeORM on MariaDB', recipe, {
  createOrder: async ({ reference, amount, currency }) => {
    const order = { reference, amount: String(amount), currency };
    await (await recipe.db).manager.insert(recipe.OrderRow, order);
  },
  later: {
    edit: (reference) =>
      merchant.execute('UPDATE orders SET currency = ? WHERE reference = ?', ['XOF', reference]),
    refund: (reference) =>
      merchant.execute('UPDATE orders SET refunded_at = NOW() WHERE reference = ?', [reference]),
  },
});

it('lists paid orders for verify', async () => {
  const { orders, db, OrderRow } = recipe;
  const order = { reference: 'listed', amount: '1500', currency: 'XOF' };
  await (await db).manager.insert(OrderRow, order);
  const context = {
    tenant: null,
    signal: new AbortController().signal,
    source: 'webhook',
  } as const;
  await orders.credit({ reference: 'listed', amount: 1_500, currency: 'XOF' }, context);
  expect(await orders.paid!(context)).toContain('listed');
  expect(await orders.unpaid!(context)).not.toContain('listed');
});
