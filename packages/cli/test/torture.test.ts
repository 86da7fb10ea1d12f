/** The command line alone. test/schedules/torture.long.test.ts tries credits on PostgreSQL. */
import { expect, it } from 'vitest';
import { paylink, words } from './paylink.js';

const PROGRAM = words`--start ${'npm start'} --books ${'node books.js'} --to`;

it.each([
  ['nothing is named', [], 'give --module <file>, or --start, --to and --books'],
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
