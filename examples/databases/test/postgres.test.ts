import { readFileSync } from 'node:fs';
import type { Order } from '@paylink/payments';
import { Pool } from 'pg';
import { afterAll } from 'vitest';
import { startPostgres } from '../../../test/servers/postgres.js';
import { testRecipe, type RecipeOptions } from './suite.js';

const TABLE = readFileSync(new URL('../tables/postgres.sql', import.meta.url), 'utf8');

await import('../generate.mjs');
const server = await startPostgres({ fsync: 'off' });
process.env['DATABASE_URL'] = server.url;
const merchant = new Pool({ connectionString: server.url, max: 2 });
await merchant.query(TABLE);
afterAll(async () => {
  await merchant.end();
  await server.close();
});

const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    merchant.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
      reference,
      amount,
      currency,
    ]),
  async elsewhere(reference) {
    const { rows } = await merchant.query<Order>(
      'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1',
      [reference],
    );
    return rows[0];
  },
  later: {
    edit: (reference) =>
      merchant.query('UPDATE orders SET created_at = created_at WHERE reference = $1', [reference]),
    refund: (reference) =>
      merchant.query('UPDATE orders SET refunded_at = now() WHERE reference = $1', [reference]),
  },
};

testRecipe('pg', await import('../pg.js'), options);
testRecipe('postgres.js', await import('../postgres-js.js'), options);
testRecipe('Drizzle', await import('../drizzle.js'), options);
testRecipe('Prisma', await import('../prisma.js'), options);
testRecipe('Kysely', await import('../kysely.js'), options);
testRecipe('Knex', await import('../knex.js'), options);
testRecipe('TypeORM', await import('../typeorm.js'), options);
testRecipe('Sequelize', await import('../sequelize.js'), options);
testRecipe('MikroORM', await import('../mikro-orm.js'), options);
