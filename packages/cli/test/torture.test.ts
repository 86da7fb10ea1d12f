/** One try on SQLite. test/schedules/torture.long.test.ts tries credits on PostgreSQL. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { newFolder, paylink, words } from './paylink.js';

const PROGRAM = words`--start ${'npm start'} --books ${'node books.js'} --to`;

it.each([
  ['nothing is named', [], 'pass --module <file>, or --start, --to and --books'],
  [
    'the webhook is on another machine',
    [...PROGRAM, 'http://shop.example/'],
    '--to must be an address of this machine',
  ],
  ['the tenant is empty', words`--module a.js --tenant ${''}`, '--tenant must not be empty'],
])('paylink torture exits with 2, and delivers nothing, if %s', async (_, args, message) => {
  const database = 'postgres://127.0.0.1:1/shop_test';
  const result = await paylink(['torture', '--database', database, ...args]);
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain(message);
});

it('paylink torture exits with 1 for a credit that changes nothing', async () => {
  const folder = newFolder();
  const modules = fileURLToPath(new URL('../../../test/node_modules', import.meta.url));
  symlinkSync(modules, join(folder, 'node_modules'));
  const module = join(folder, 'shop.mjs');
  const code = `import Database from 'libsql';
const db = new Database(process.env.DATABASE_URL, { timeout: 5000 });
db.exec('CREATE TABLE IF NOT EXISTS orders (reference text, amount integer, currency text)');
const insert = db.prepare('INSERT INTO orders VALUES (?, ?, ?)');
const select = db.prepare('SELECT * FROM orders WHERE reference = ?');
export const createOrder = async ({ reference, amount, currency }) =>
  void insert.run(reference, amount, currency);
const find = (reference) => ({ ...select.get(reference), paid: false });
export const orders = { find, credit: () => 1 };`;
  writeFileSync(module, code);
  const args = ['torture', '--module', module, '--database', join(folder, 'shop.db')];
  const result = await paylink([...args, '--replay', '2']);
  expect(result).toMatchObject({ code: 1, stderr: '' });
  expect(result.stdout).toMatch(/^No delivery credits an order/);
});
