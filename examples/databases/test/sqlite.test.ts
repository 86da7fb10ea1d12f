import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Orders } from '@paylink/payments';
import BetterSqlite3 from 'better-sqlite3';
import Libsql from 'libsql';
import { afterAll } from 'vitest';
import { buildBetterSqlite3 } from './build-better-sqlite3.js';
import { testRecipe, type Recipe } from './suite.js';

const TABLE = readFileSync(new URL('../tables/sqlite.sql', import.meta.url), 'utf8');

await import('../generate.mjs');
buildBetterSqlite3();
const folder = mkdtempSync(join(tmpdir(), 'paylink-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface OrderRow {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly paid_at: string | null;
}

/**
 * A file for each recipe. The merchant opens it through the recipe's own library, because two
 * copies of SQLite in one process release each other's locks.
 */
async function testOnFile(
  name: string,
  open: (file: string) => BetterSqlite3.Database | Libsql.Database,
  load: () => Promise<Recipe>,
): Promise<void> {
  const file = join(folder, `${name}.db`);
  process.env['DATABASE_FILE'] = file;
  const merchant = open(file) as BetterSqlite3.Database;
  merchant.exec(TABLE);
  const run = (sql: string, ...values: unknown[]): void =>
    void merchant.prepare(sql).run(...values);
  const elsewhere: Orders['find'] = (reference) => {
    const select = merchant.prepare('SELECT * FROM orders WHERE reference = ?');
    const order = select.get(reference) as OrderRow | undefined;
    return order && { ...order, paid: order.paid_at !== null };
  };
  testRecipe(name, await load(), {
    createOrder: ({ reference, amount, currency }) =>
      run(
        'INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)',
        reference,
        amount,
        currency,
      ),
    elsewhere,
    later: {
      edit: (reference) =>
        run('UPDATE orders SET currency = ? WHERE reference = ?', 'XOF', reference),
      refund: (reference) =>
        run('UPDATE orders SET refunded_at = CURRENT_TIMESTAMP WHERE reference = ?', reference),
    },
  });
}

const timeout = 5_000;
const libsql = (file: string): Libsql.Database => new Libsql(file, { timeout });
const betterSqlite3 = (file: string): BetterSqlite3.Database =>
  new BetterSqlite3(file, { timeout });

await testOnFile('libsql', libsql, () => import('../libsql.js'));
await testOnFile('Drizzle', betterSqlite3, () => import('../drizzle-sqlite.js'));
await testOnFile('better-sqlite3', betterSqlite3, () => import('../better-sqlite3.js'));
await testOnFile('Prisma', betterSqlite3, () => import('../prisma-sqlite.js'));
