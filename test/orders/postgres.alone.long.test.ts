/** Broken and right `orders` whose fault, or whose innocence, only PostgreSQL shows. */
import type { Order } from '@paylink/payments';
import { Client, Pool } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { faultsOf, reportOf, testFaults, type Broken, type Designs } from './faults.js';
import {
  creditBy,
  findBy,
  MARK,
  markIn,
  onTable,
  orderIn,
  pay,
  pool,
  query,
  right,
  server,
  transaction,
  withOrders,
  write,
} from './on-postgres.js';
import type { Credit, Find } from './shop.js';

await pool.query(`
  ALTER TABLE orders ADD status text NOT NULL DEFAULT 'new', ADD wallet int NOT NULL DEFAULT 0;
  CREATE TABLE floats (LIKE orders INCLUDING ALL);
  ALTER TABLE floats ALTER amount TYPE real, ALTER currency TYPE char(5);
  CREATE TABLE numbered (id bigint PRIMARY KEY, amount bigint, currency text, paid_at timestamptz);
  CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  CREATE TABLE nocase (LIKE orders INCLUDING DEFAULTS);
  ALTER TABLE nocase ALTER reference TYPE text COLLATE nocase;
  CREATE TYPE currency AS ENUM ('XOF');
  CREATE TABLE enumerated (LIKE orders INCLUDING ALL);
  ALTER TABLE enumerated ALTER currency TYPE currency USING currency::currency;
  CREATE TABLE small (LIKE orders INCLUDING ALL);
  ALTER TABLE small ALTER amount TYPE integer`);

const withCredit = (credit: Credit): Broken => withOrders({ credit });
const withFind = (find: Find): Broken => withOrders({ find });
/** A credit with another condition on the reference, amount and currency. */
const creditWhere = (condition: string): Broken =>
  withCredit(creditBy(markIn('orders', condition)));

/** Orders on a column of numbers, whose find echoes its argument. */
const numbered = (toId: (reference: string) => number): Broken => ({
  orders: {
    async find(reference) {
      const sql =
        'SELECT amount, currency, paid_at IS NOT NULL AS paid FROM numbered WHERE id = $1';
      const [row] = await query<Order>(sql, [toId(reference)]);
      return row && { ...row, reference };
    },
    credit: ({ reference, amount, currency }) =>
      write(markIn('numbered').replace('reference', 'id'), [toId(reference), amount, currency]),
  },
  createOrder: ({ reference, amount, currency }) =>
    write('INSERT INTO numbered (id, amount, currency) VALUES ($1, $2, $3)', [
      toId(reference),
      amount,
      currency,
    ]),
});

const single = new Client({ connectionString: server.url });
await single.connect();
afterAll(() => single.end().catch(() => undefined));
let lastElsewhere: ReturnType<Find> | undefined;

const broken: Designs = {
  'a read, then a write, in a transaction': [
    withCredit((payment) =>
      transaction(async (client) => {
        const sql = 'SELECT paid_at FROM orders WHERE reference = $1';
        const [order] = await query<{ paid_at: unknown }>(sql, [payment.reference], client);
        return order?.paid_at === null ? pay(MARK.split(' AND paid')[0]!, payment, client) : 0;
      }),
    ),
    /^\d+ of 20 simultaneous calls credited the same order/,
  ],
  '`Number(reference)` with a find that echoes its argument': [
    numbered(Number),
    /^find returns an order for a reference with a (leading zero|fraction|trailing blank), under that reference/,
  ],
  '`parseInt(reference)` with a find that echoes its argument': [
    numbered((reference) => parseInt(reference, 10)),
    /^find returns an order for a reference with a suffix, under that reference/,
  ],
  'a collation without case': [
    onTable('nocase'),
    /^(credit also paid the order whose reference is the same|find returns another order for a reference) in another case/,
  ],
  'a find on the connection of an open transaction': [
    {
      createOrder: right.createOrder,
      orders: {
        find: findBy(orderIn('orders'), single),
        async credit(payment) {
          await single.query('BEGIN');
          const count = await pay(MARK, payment, single);
          await single.query('SELECT 1');
          // The finds that waited before this query have seen the write, and asked elsewhere.
          await lastElsewhere;
          await single.query('COMMIT');
          return count;
        },
      },
      elsewhere: (...call) => (lastElsewhere = right.orders.find(...call)),
    },
    /^find sees the order as paid, but a second connection does not/,
  ],
  '`= NULL`': [
    withCredit(creditBy(MARK.replace('IS NULL', '= NULL'))),
    /^credit changed no row.*`= NULL`/,
  ],
  'amounts as float': [onTable('floats'), /^createOrder stored the amount 16777217.*float/],
  'a currency in padded CHAR': [
    { ...onTable('floats'), orders: withFind(findBy(orderIn('floats'))).orders },
    /^createOrder stored the currency 'XOF', but find returns 'XOF {2}'/,
  ],
  'a credit by LIKE': [
    creditWhere('reference LIKE $1 AND amount = $2 AND currency = $3'),
    /^credit also paid the order whose reference is the same with % in it.*LIKE/,
  ],
  'a credit by a regular expression': [
    creditWhere("reference ~ ('^' || $1 || '$') AND amount = $2 AND currency = $3"),
    /^credit also paid the order whose reference is the same with \. in it.*pattern/,
  ],
  'a find by LIKE': [
    withFind(
      findBy(`${orderIn('orders').replace('reference =', 'reference LIKE')} ORDER BY created_at`),
    ),
    /^find returns another order for a reference with _ in it.*LIKE/,
  ],
  'a find with the reference in its text': [
    withFind(
      async (reference) =>
        (await query<Order>(orderIn('orders').replace('$1', `'${reference}'`), []))[0],
    ),
    /^find returns an order for a reference that ends in a condition in SQL.*parameter/,
  ],
  'a find with a backslash in its text': [
    withFind(async (reference, context) => {
      const escaped = reference.replaceAll("'", "''");
      await query(`SELECT E'${escaped}'`, []);
      return right.orders.find(reference, context);
    }),
    /^With a backslash in the reference, find threw.*parameter/,
  ],
  'a credit with the reference in its text': [
    withCredit(({ reference, amount, currency }) =>
      write(
        `UPDATE orders SET paid_at = now() WHERE amount = $1 AND currency = $2 AND paid_at IS NULL AND reference = '${reference}'`,
        [amount, currency],
      ).catch(() => 0),
    ),
    /^credit pays an order for a reference that ends in a comment in SQL.*parameter/,
  ],
};

testFaults(broken, { tags: ['P01', 'P22', 'P27', 'P30', 'P37', 'P38'] });

it('names the fault of a credit without COMMIT', { tags: 'P02', timeout: 180_000 }, async () => {
  const leaky = new Pool({ connectionString: server.url, max: 20, min: 20 });
  leaky.on('error', () => undefined);
  const credit: Credit = async (payment) => {
    const client = await leaky.connect();
    await client.query('BEGIN');
    const count = await pay(MARK, payment, client);
    client.release();
    return count;
  };
  const faults = await faultsOf({ ...withCredit(credit), elsewhere: right.orders.find });
  expect(faults.filter((fault) => fault.includes('COMMIT'))).not.toEqual([]);
  await pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'",
  );
  await leaky.end();
});

const references = async (condition: string): Promise<string[]> => {
  const rows = await query<Order>(`SELECT reference FROM orders WHERE ${condition}`, []);
  return rows.map(({ reference }) => reference);
};

describe('right orders', () => {
  it('are not accused with a wallet in the transaction, and with an edit', async () => {
    const WALLET = 'UPDATE orders SET wallet = wallet + 1 WHERE reference = $1';
    const options: Broken = {
      ...withCredit((payment) =>
        transaction(async (client) => {
          const count = await pay(MARK, payment, client);
          if (count === 1) await write(WALLET, [payment.reference], client);
          return count;
        }),
      ),
      async effects(reference) {
        const sql = 'SELECT wallet FROM orders WHERE reference = $1';
        return (await query<{ wallet: number }>(sql, [reference]))[0]!.wallet;
      },
      elsewhere: right.orders.find,
      later: {
        edit: (it) => write("UPDATE orders SET status = 'edited' WHERE reference = $1", [it]),
      },
    };
    expect(await faultsOf(options)).toEqual([]);
  });

  it('are not accused if their references stream from the database, nor without a count', async () => {
    const stream = async function* (condition: string): AsyncGenerator<string> {
      yield* await references(condition);
    };
    const options = withOrders({
      credit: (payment) => pay(MARK, payment).then(() => null),
      unpaid: () => stream('paid_at IS NULL'),
      paid: () => stream('paid_at IS NOT NULL'),
    });
    expect(await faultsOf({ ...options, elsewhere: right.orders.find })).toEqual([]);
  });

  it('are not accused if `unpaid` leaves out young orders, and says what it could not test', async () => {
    const young = "paid_at IS NULL AND created_at < now() - interval '5 minutes'";
    expect(await reportOf(withOrders({ unpaid: () => references(young) }))).toEqual({
      faults: [],
      skipped: [
        expect.stringMatching(/^not tested: unpaid lists the unpaid orders.*\(.*young orders/),
        expect.stringMatching(/^not tested: unpaid lists the oldest order first.*\(.*young orders/),
      ],
    });
  });

  it.each([
    ['the currency is an enumeration', 'enumerated', /find returns the currency.*enum currency/],
    ['amounts are integers of 32 bits', 'small', /an order of 2147483648 .*out of range/],
  ])(
    'are not accused if %s, beyond which it says what it could not test',
    async (_, table, note) => {
      expect(await reportOf(onTable(table))).toEqual({
        faults: [],
        skipped: [expect.stringMatching(new RegExp(`^not tested: ${note.source}`))],
      });
    },
  );
});
