/** Broken `orders` on MariaDB: each is caught by the sentence that names its fault. */
import { readFileSync } from 'node:fs';
import type { Order } from '@paylink/payments';
import {
  createPool,
  type PoolConnection,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';
import { afterAll, expect, it } from 'vitest';
import { startMariaDb } from '../servers/mariadb.js';
import { faultsOf, testFaults, type Broken, type Designs } from './faults.js';
import type { Credit, Find } from './shop.js';

const TABLE = readFileSync(
  new URL('../../examples/databases/tables/mysql.sql', import.meta.url),
  'utf8',
);
await import('../../examples/databases/generate.mjs');
// Without strict mode, as on many shared hosts.
const server = await startMariaDb({ sql_mode: '', 'innodb-flush-log-at-trx-commit': 2 });
process.env['DATABASE_URL'] = server.url;
const pool = createPool({ uri: server.url, multipleStatements: true });
const { orders: right } = await import('../../examples/databases/mysql2.js');
const { prisma, close } = await import('../../examples/databases/prisma-mysql.js');
afterAll(async () => {
  await close();
  await pool.end();
  await server.close();
});
await pool.query(`${TABLE}
  ALTER TABLE orders ADD flag bit(1) NOT NULL DEFAULT 0;
  CREATE TABLE collated (reference varchar(64) NOT NULL, amount bigint, currency varchar(3), paid_at datetime NULL, KEY (reference)) DEFAULT CHARACTER SET utf8mb4;
  CREATE TABLE padded LIKE collated;
  ALTER TABLE padded MODIFY reference varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL;
  CREATE TABLE stamped (reference varchar(64) PRIMARY KEY, amount bigint, currency varchar(3), paid_at timestamp NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP);
  CREATE TABLE defaulted (reference varchar(64) PRIMARY KEY, amount bigint, currency varchar(3), paid_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP);
  CREATE TABLE zeroed (reference varchar(64) PRIMARY KEY, amount bigint, currency varchar(3), paid_at datetime NOT NULL);
  CREATE TABLE numbered (id bigint PRIMARY KEY, amount bigint, currency varchar(3), paid_at datetime NULL)`);

interface Row extends RowDataPacket {
  reference: string;
  amount: number;
  currency: string;
  paid_at: Date | null;
  flag: Buffer;
}

const rowOf = async (sql: string, values: unknown[]): Promise<Row | undefined> =>
  (await pool.query<Row[]>(sql, values))[0][0];
const write = async (
  sql: string,
  values: unknown[],
  on: PoolConnection | typeof pool = pool,
): Promise<number> => (await on.query<ResultSetHeader>(sql, values))[0].affectedRows;

const toOrder = (row: Row | undefined): Order | undefined =>
  row && { ...row, paid: row.paid_at !== null };
const findIn =
  (table: string, key = 'reference'): Find =>
  async (reference) =>
    toOrder(await rowOf(`SELECT * FROM ${table} WHERE ${key} = ?`, [reference]));
const creditIn =
  (table: string, key = 'reference'): Credit =>
  ({ reference, amount, currency }) =>
    write(
      `UPDATE ${table} SET paid_at = NOW() WHERE ${key} = ? AND amount = ? AND currency = ? AND paid_at IS NULL`,
      [reference, amount, currency],
    );
const createIn =
  (table: string, key = 'reference'): Broken['createOrder'] =>
  ({ reference, amount, currency }) =>
    write(`INSERT INTO ${table} (${key}, amount, currency) VALUES (?, ?, ?)`, [
      reference,
      amount,
      currency,
    ]);
const onTable = (table: string): Broken => ({
  orders: { find: findIn(table), credit: creditIn(table) },
  createOrder: createIn(table),
});
const edited = (table: string): Broken => ({
  ...onTable(table),
  later: {
    edit: (reference) =>
      write(`UPDATE ${table} SET currency = 'XAF' WHERE reference = ?`, [reference]),
  },
});
const createOrder = createIn('orders');

const broken: Designs = {
  "Prisma's `update` with the condition in `where`": [
    {
      createOrder,
      orders: {
        find: right.find,
        credit: ({ reference, amount, currency }) =>
          prisma.order
            .update({
              where: { reference, amount, currency, paidAt: null },
              data: { paidAt: new Date() },
            })
            .then(
              () => 1,
              () => 0,
            ),
      },
    },
    /^\d+ of 20 simultaneous calls credited the same order.*updateMany/,
  ],
  "Prisma's `updateMany` with an undefined field": [
    {
      createOrder,
      orders: {
        find: right.find,
        async credit({ amount, currency }) {
          const { id: reference } = {} as { id?: string };
          const where = { amount, currency, paidAt: null, ...(reference && { reference }) };
          return (await prisma.order.updateMany({ where, data: { paidAt: new Date() } })).count;
        },
      },
    },
    /^credit returned \d+, and paid another order too.*undefined field/,
  ],
  '`!!` of BIT(1)': [
    {
      createOrder,
      orders: {
        async find(reference) {
          const row = await rowOf('SELECT * FROM orders WHERE reference = ?', [reference]);
          return row && { ...row, paid: !!row.flag };
        },
        credit: ({ reference, amount, currency }) =>
          write(
            'UPDATE orders SET flag = 1 WHERE reference = ? AND amount = ? AND currency = ? AND flag = 0',
            [reference, amount, currency],
          ),
      },
    },
    /^A new order must be unpaid.*BIT\(1\)/,
  ],
  "a database's collation without case": [
    onTable('collated'),
    /^(credit also paid the order whose reference is the same|find returns another order for a reference) in another case/,
  ],
  'a collation without accents': [
    onTable('collated'),
    /^(credit also paid the order whose reference is the same|find returns another order for a reference) with a composed accent/,
  ],
  'a collation that ignores trailing blanks': [
    onTable('padded'),
    /^(credit also paid the order whose reference is the same|find returns another order for a reference) with a trailing blank/,
  ],
  'a timestamp with ON UPDATE': [
    edited('stamped'),
    /^After edit, find reports an unpaid order as paid.*ON UPDATE/,
  ],
  'a timestamp with a default': [onTable('defaulted'), /^A new order must be unpaid.*a default/],
  'a zero date': [onTable('zeroed'), /^A new order must be unpaid/],
  '`42abc`, which an integer column takes for 42': [
    {
      createOrder: createIn('numbered', 'id'),
      orders: {
        async find(reference) {
          const order = await findIn('numbered', 'id')(reference, {} as never);
          return order && { ...order, reference };
        },
        credit: creditIn('numbered', 'id'),
      },
    },
    /^find returns an order for a reference with a suffix, under that reference/,
  ],
  'a find that reads what is not committed': [
    {
      createOrder,
      elsewhere: right.find,
      orders: {
        async find(reference) {
          const reader = await pool.getConnection();
          try {
            await reader.query('SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED');
            const [rows] = await reader.query<Row[]>('SELECT * FROM orders WHERE reference = ?', [
              reference,
            ]);
            return toOrder(rows[0]);
          } finally {
            reader.release();
          }
        },
        async credit({ reference, amount, currency }) {
          const writer = await pool.getConnection();
          try {
            await writer.beginTransaction();
            const count = await write(
              'UPDATE orders SET paid_at = NOW() WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL',
              [reference, amount, currency],
              writer,
            );
            await writer.query('DO SLEEP(0.01)');
            await writer.commit();
            return count;
          } finally {
            writer.release();
          }
        },
      },
    },
    /^find sees the order as paid, but a second connection does not/,
  ],
};

testFaults(broken, { tags: ['P22', 'P27', 'P29', 'P30'] });

it('accuses no right orders without strict mode', async () => {
  expect(await faultsOf({ createOrder, orders: right, elsewhere: findIn('orders') })).toEqual([]);
});
