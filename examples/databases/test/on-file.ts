/** Runs the recipes of SQLite, each on a file of its own. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Orders } from '@paylink/payments';
import type BetterSqlite3 from 'better-sqlite3';
import type Libsql from 'libsql';
import { afterAll } from 'vitest';
import { testRecipe, type Recipe } from './suite.js';

const TABLE = readFileSync(new URL('../tables/sqlite.sql', import.meta.url), 'utf8');

await import('../generate.mjs');
const folder = mkdtempSync(join(tmpdir(), 'paylink-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface OrderRow {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly paid_at: string | null;
}

/**
 * The merchant opens the file through the recipe's own library, because two copies of SQLite in one
 * process release each other's locks.
 */
export async function testOnFile(
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
