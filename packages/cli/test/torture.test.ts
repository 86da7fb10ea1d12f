/** One try on SQLite. test/schedules/torture.long.test.ts tries credits on PostgreSQL. */
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../test/servers/starting.js';
import { newFolder, paylink, paylinkProcess, SECRET, words } from './paylink.js';

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

/** Tries a module on SQLite. By default, its credit changes nothing. */
async function tortureModule(paid: string, credit = '() => 1') {
  const folder = newFolder();
  const modules = fileURLToPath(new URL('../../../test/node_modules', import.meta.url));
  symlinkSync(modules, join(folder, 'node_modules'));
  const module = join(folder, 'shop.mjs');
  const code = `import Database from 'libsql';
const db = new Database(process.env.DATABASE_URL, { timeout: 5000 });
db.exec(
  'CREATE TABLE IF NOT EXISTS orders (reference text, amount integer, currency text, paid_at text)',
);
const insert = db.prepare('INSERT INTO orders VALUES (?, ?, ?, NULL)');
const select = db.prepare('SELECT * FROM orders WHERE reference = ?');
const pay = db.prepare(
  "UPDATE orders SET paid_at = 'now' WHERE reference = ? AND paid_at IS NULL",
);
export const createOrder = async ({ reference, amount, currency, tenant }) => {
  if (tenant !== null) throw new Error('this shop has one merchant');
  insert.run(reference, amount, currency);
};
const find = (reference) => {
  const row = select.get(reference);
  return { ...row, paid: ${paid} };
};
export const orders = { find, credit: ${credit} };`;
  writeFileSync(module, code);
  const args = ['torture', '--module', module, '--database', join(folder, 'shop.db')];
  return paylinkProcess([...args, '--replay', '2', '--tenant', 'null']);
}

it('paylink torture exits with 1 for a credit that changes nothing', async () => {
  const result = await tortureModule('false');
  expect(result).toMatchObject({ code: 1, stderr: '' });
  expect(result.stdout).toMatch(/^No delivery credits an order/);
});

it('paylink torture exits with 0 for a replay without a fault, also of the tenant null', async () => {
  const credit = '({ reference }) => pay.run(reference).changes';
  const result = await tortureModule('row.paid_at !== null', credit);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(result.stdout).toMatch(/^no fault\n[^]*the database says: paid/);
});

it('paylink torture exits with 2 for a module that no delivery can credit', async () => {
  const result = await tortureModule("'no'");
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toMatch(/was not acknowledged \(invalid_order\): run testOrders first/);
});

it.each([
  ['percent-encoded', `shop:${encodeURIComponent(`p@ss/${SECRET}`)}@`, '', `p@ss/${SECRET}`],
  ['not encoded', `shop:100%${SECRET}@`, '', `100%${SECRET}`],
  ['from the query', '', `?user=shop&password=p%40ss/${SECRET}`, `p@ss/${SECRET}`],
])('paylink torture hides a password that is printed, %s', async (_, user, query, password) => {
  const folder = newFolder();
  writeFileSync(join(folder, 'refusal'), `the password ${password} is wrong\n`);
  const database = `postgres://${user}127.0.0.1:1/shop_test${query}`;
  const books = 'cat refusal >&2; exit 1';
  const port = await freePort();
  const start = `node -e "require('node:http').createServer().listen(${port}, '127.0.0.1')"`;
  const program = words`--start ${start} --to ${`http://127.0.0.1:${port}/`} --books ${books}`;
  const result = await paylinkProcess(['torture', '--database', database, ...program], {
    cwd: folder,
  });
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toMatch(/the password \S+ is wrong/);
  expect(result.stderr).not.toMatch(/p@ss|100%/);
});

/** A program that stores its orders in files, and opens no connection to the database. */
async function tortureProgram(status: number, port: number) {
  const folder = newFolder();
  const server = `import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
createServer(async (request, reply) => {
  const { reference } = JSON.parse(Buffer.concat(await request.toArray()));
  if (${status} === 200) writeFileSync(reference, '');
  reply.writeHead(${status}).end();
}).listen(${port}, '127.0.0.1');`;
  writeFileSync(join(folder, 'server.mjs'), server);
  const books = 'test -e "$REFERENCE" && echo \'{"paid":true}\' || echo \'{"paid":false}\'';
  const to = `http://127.0.0.1:${port}/`;
  const program = words`--start ${'node server.mjs'} --books ${books} --to ${to}`;
  const database = 'postgres://127.0.0.1:1/shop_test';
  const args = ['torture', '--database', database, ...program, '--replay', '4'];
  return paylinkProcess(args, { cwd: folder });
}

it('paylink torture exits with 2 for a program that credits without the proxy', async () => {
  const result = await tortureProgram(200, await freePort());
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain('did not connect to the address in DATABASE_URL');
});

it('paylink torture exits with 2 for a program that does not answer 200', async () => {
  const result = await tortureProgram(401, await freePort());
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain('did not receive a 200 (401)');
});

it('paylink torture quotes the error of a program that first prints long warnings', async () => {
  const folder = newFolder();
  const server = "console.error('a warning\\n'.repeat(1_000)); throw new TypeError('no secret');";
  writeFileSync(join(folder, 'server.mjs'), server);
  const program = words`--start ${'node server.mjs'} --books true --to`;
  const to = `http://127.0.0.1:${await freePort()}/`;
  const database = 'postgres://127.0.0.1:1/shop_test';
  const result = await paylinkProcess(['torture', '--database', database, ...program, to], {
    cwd: folder,
  });
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain('Its stderr: TypeError: no secret');
});

it('paylink torture exits with 2 if another program answers at --to', async () => {
  const other = createServer((_, reply) => reply.end()).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { code, stderr } = await tortureProgram(200, (other.address() as AddressInfo).port);
  expect(code).toBe(2);
  expect(stderr).toContain('Another program answers at');
});
