import { readFileSync } from 'node:fs';
import { createPool } from 'mysql2/promise';
import { afterAll } from 'vitest';
import { startMariaDb } from '../../../test/servers/mariadb.js';
import { testRecipe, type RecipeOptions } from './suite.js';

const TABLE = readFileSync(new URL('../tables/mysql.sql', import.meta.url), 'utf8');

const server = await startMariaDb();
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

testRecipe('mariadb', await import('../mariadb.js'), { ...options, elsewhere });
testRecipe('Drizzle', await import('../drizzle-mysql.js'), { ...options, elsewhere });
testRecipe('Prisma', await import('../prisma-mysql.js'), { ...options, elsewhere });
testRecipe('mysql2', mysql2, options);
