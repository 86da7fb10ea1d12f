/** Broken `orders` on PostgreSQL: each is caught by the sentence that names its fault. */
import type { Order, Orders } from '@paylink/payments';
import { testOrders } from '@paylink/testing';
import { Client, Pool, type PoolClient } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { faultsOf, type Broken } from './faults.js';
import {
  creditBy,
  findBy,
  markIn,
  onTable,
  orderIn,
  pool,
  query,
  references,
  right,
  server,
  withOrders,
  write,
  type Credit,
  type Find,
} from './on-postgres.js';

await pool.query(`
  ALTER TABLE orders ADD status text NOT NULL DEFAULT 'new', ADD flag text NOT NULL DEFAULT 'N',
    ADD wallet int NOT NULL DEFAULT 0;
  CREATE TABLE twins (LIKE orders INCLUDING DEFAULTS);
  CREATE TABLE other_orders (LIKE orders INCLUDING DEFAULTS);
  CREATE TABLE floats (LIKE orders INCLUDING ALL);
  ALTER TABLE floats ALTER amount TYPE real, ALTER currency TYPE char(5);
  CREATE TABLE numbered (id bigint PRIMARY KEY, amount bigint, currency text, paid_at timestamptz);
  CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  CREATE TABLE nocase (LIKE orders INCLUDING DEFAULTS);
  ALTER TABLE nocase ALTER reference TYPE text COLLATE nocase`);

type Payment = Parameters<Credit>[0];

const withCredit = (credit: Credit): Broken => withOrders({ credit });
const withFind = (find: Find): Broken => withOrders({ find });

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

/** A transaction that is right as such. */
async function transaction(
  work: (client: PoolClient) => Promise<number>,
  end = 'COMMIT',
): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const count = await work(client);
    await client.query(end);
    return count;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

const MARK = markIn('orders');
const UPDATE = 'UPDATE orders SET paid_at = now() WHERE';
const PAY = `${UPDATE} reference = $1 AND amount = $2 AND currency = $3`;
const ship = (reference: string): unknown =>
  pool.query("UPDATE orders SET status = 'shipped' WHERE reference = $1", [reference]);
const WALLET = 'UPDATE orders SET wallet = wallet + 1 WHERE reference = $1';
const effects = async (reference: string): Promise<number> =>
  (
    await query<{ wallet: number }>('SELECT wallet FROM orders WHERE reference = $1', [reference])
  )[0]!.wallet;

const single = new Client({ connectionString: server.url });
await single.connect();
afterAll(() => single.end().catch(() => undefined));

const cache = new Map<string, Promise<Order | null | undefined>>();
let lastElsewhere: ReturnType<Find> | undefined;

const broken: Record<string, readonly [Broken, RegExp]> = {
  'an unconditional credit': [
    withCredit(creditBy(PAY)),
    /^credit returned 1 for an order that was already paid/,
  ],
  'a read, then a write, in a transaction': [
    withCredit(({ reference, amount, currency }) =>
      transaction(async (client) => {
        const sql = 'SELECT paid_at FROM orders WHERE reference = $1';
        const [order] = await query<{ paid_at: unknown }>(sql, [reference], client);
        return order?.paid_at === null ? write(PAY, [reference, amount, currency], client) : 0;
      }),
    ),
    /^\d+ of 20 simultaneous calls credited the same order/,
  ],
  'a credit without the amount': [
    withCredit(
      creditBy(`${UPDATE} reference = $1 AND $2 > 0 AND currency = $3 AND paid_at IS NULL`),
    ),
    /^credit returned 1 for a payment of another amount/,
  ],
  'a credit without the currency': [
    withCredit(
      creditBy(`${UPDATE} reference = $1 AND amount = $2 AND $3 > '' AND paid_at IS NULL`),
    ),
    /^credit returned 1 for a payment of another currency/,
  ],
  'a credit without the tenant': [
    {
      ...right,
      tenants: ['shop-a', 'shop-b'],
      orders: {
        ...right.orders,
        find: async (reference, { tenant }) =>
          (
            await query<Order>(
              'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1 AND tenant = $2',
              [reference, tenant],
            )
          )[0],
      },
    },
    /^credit returned 1 for a payment of another tenant/,
  ],
  'a find without the tenant': [
    { ...right, tenants: ['shop-a', 'shop-b'] },
    /^find returns an order to another tenant/,
  ],
  '`!== null` of a column that was not selected': [
    withFind(async (reference) => {
      const [row] = await query<{ reference: string; amount: string; currency: string }>(
        'SELECT reference, amount, currency FROM orders WHERE reference = $1',
        [reference],
      );
      return row && { ...row, paid: (row as { paid_at?: unknown }).paid_at !== null };
    }),
    /^A new order must be unpaid.*`!== null` of a column that was not selected/,
  ],
  "`!!` of 'N'": [
    withFind(async (reference) => {
      const sql = 'SELECT reference, amount, currency, flag FROM orders WHERE reference = $1';
      const [row] = await query<Order & { flag: string }>(sql, [reference]);
      return row && { ...row, paid: !!row.flag };
    }),
    /^A new order must be unpaid.*`!!` of 'N'/,
  ],
  'a `paid` that is no boolean': [
    withFind(async (reference) => {
      const sql =
        "SELECT reference, amount, currency, CASE WHEN paid_at IS NULL THEN 'f' ELSE 't' END AS paid FROM orders WHERE reference = $1";
      return (await query<Order>(sql, [reference]))[0];
    }),
    /^paid must be true or false, but find returns 'f'/,
  ],
  "`status <> 'paid'`, which a shipped order fulfils": [
    {
      ...right,
      orders: {
        find: findBy(
          "SELECT reference, amount, currency, status IN ('paid', 'shipped') AS paid FROM orders WHERE reference = $1",
        ),
        credit: creditBy(
          "UPDATE orders SET status = 'paid' WHERE reference = $1 AND amount = $2 AND currency = $3 AND status <> 'paid'",
        ),
      },
      later: { ship },
    },
    /^After ship, a paid order was credited again/,
  ],
  "`paid: status === 'paid'`, which a shipped order is not": [
    {
      ...right,
      orders: {
        find: findBy(
          "SELECT reference, amount, currency, status = 'paid' AS paid FROM orders WHERE reference = $1",
        ),
        credit: creditBy(
          "UPDATE orders SET status = 'paid' WHERE reference = $1 AND amount = $2 AND currency = $3 AND status = 'new'",
        ),
      },
      later: { ship },
    },
    /^After ship, find reports a paid order as unpaid/,
  ],
  'a refund that resets the payment': [
    {
      ...right,
      later: {
        refund: (reference) =>
          pool.query('UPDATE orders SET paid_at = NULL WHERE reference = $1', [reference]),
      },
    },
    /^After refund, find reports a paid order as unpaid/,
  ],
  'a wallet that is written first': [
    {
      ...withCredit(async ({ reference, amount, currency }) => {
        await write(WALLET, [reference]);
        return write(MARK, [reference, amount, currency]);
      }),
      effects,
    },
    /^effects counts 2 after a second credit/,
  ],
  'a wallet that is written whatever the count says': [
    {
      ...withCredit(({ reference, amount, currency }) =>
        transaction(async (client) => {
          const count = await write(MARK, [reference, amount, currency], client);
          await write(WALLET, [reference], client);
          return count;
        }),
      ),
      effects,
    },
    /^effects counts 3 after a payment with another amount and currency/,
  ],
  '`Number(reference)` with a find that echoes its argument': [
    numbered(Number),
    /^find returns an order for a reference with a (leading zero|fraction|trailing blank), under that reference/,
  ],
  '`parseInt(reference)` with a find that echoes its argument': [
    numbered((reference) => parseInt(reference, 10)),
    /^find returns an order for a reference with a suffix, under that reference/,
  ],
  '`Number(reference)` beside a column of text': [
    withFind((reference, context) => right.orders.find(String(Number(reference)), context)),
    /^find does not find an order that createOrder has stored.*Number/,
  ],
  'a collation without case': [
    onTable('nocase'),
    /^(credit also paid the order whose reference is the same|find returns another order for a reference) in another case/,
  ],
  'two orders of one reference': [onTable('twins'), /^Two orders share a reference/],
  'a find that caches': [
    withFind((reference, context) => {
      let found = cache.get(reference);
      if (found === undefined) {
        found = Promise.resolve(right.orders.find(reference, context));
        cache.set(reference, found);
      }
      return found;
    }),
    /^find was called before the credit or meanwhile, and still returns an unpaid order/,
  ],
  'a find on the connection of an open transaction': [
    {
      createOrder: right.createOrder,
      orders: {
        find: findBy(orderIn('orders'), single),
        async credit({ reference, amount, currency }) {
          await single.query('BEGIN');
          const count = await write(MARK, [reference, amount, currency], single);
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
  'a constant count': [
    withCredit(async ({ reference, amount, currency }) => {
      await write(MARK, [reference, amount, currency]);
      return 1;
    }),
    /^credit returned 1 for a reference that no order has.*constant/,
  ],
  'a credit without await': [
    withCredit((async ({ reference, amount, currency }: Payment) => {
      void write(MARK, [reference, amount, currency]);
    }) as unknown as Credit),
    /^credit returned undefined.*`await`/,
  ],
  'a credit that writes to another table': [
    withCredit(creditBy(markIn('other_orders'))),
    /^credit changed no row for an unpaid order/,
  ],
  'a credit that rolls back': [
    withCredit(({ reference, amount, currency }) =>
      transaction((client) => write(MARK, [reference, amount, currency], client), 'ROLLBACK'),
    ),
    /^credit returned 1, but find reports the order as unpaid.*COMMIT/,
  ],
  'a condition without the reference': [
    withCredit(creditBy(`${UPDATE} $1 > '' AND amount = $2 AND currency = $3 AND paid_at IS NULL`)),
    /^credit returned \d+, and paid another order too/,
  ],
  '`= NULL`': [
    withCredit(creditBy(`${PAY} AND paid_at = NULL`)),
    /^credit changed no row.*`= NULL`/,
  ],
  'amounts as float': [onTable('floats'), /^createOrder stored the amount 16777217.*float/],
  'a currency in padded CHAR': [
    {
      ...onTable('floats'),
      orders: withFind(findBy(orderIn('floats'))).orders,
    },
    /^createOrder stored the currency 'XOF', but find returns 'XOF {2}'/,
  ],
  'a find that throws for an unknown order': [
    withFind(async (reference, context) => {
      const order = await right.orders.find(reference, context);
      if (!order) throw new Error('no such order');
      return order;
    }),
    /^find threw: no such order/,
  ],
  'a find that makes up unknown orders': [
    withFind(
      async (reference, context) =>
        (await right.orders.find(reference, context)) ?? {
          reference,
          amount: 0,
          currency: 'XOF',
          paid: false,
        },
    ),
    /^find returns an order for a reference that no order has/,
  ],
};

const unpaidBy = (unpaid: Orders['unpaid']): Broken => withOrders({ unpaid: unpaid! });
/** A credit with another condition on the reference, amount and currency. */
const creditWhere = (condition: string): Broken =>
  withCredit(
    creditBy(`UPDATE orders SET paid_at = now() WHERE (${condition}) AND paid_at IS NULL`),
  );

Object.assign(broken, {
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
        (
          await query<Order>(
            `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = '${reference}'`,
            [],
          )
        )[0],
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
  'a credit of any currency of the shop': [
    creditWhere("reference = $1 AND amount = $2 AND $3 IN ('XOF', 'XAF')"),
    /^credit returned 1 for a payment of another currency/,
  ],
  'an amount that is compared in 32 bits': [
    creditWhere(
      'reference = $1 AND amount % 4294967296 = $2::bigint % 4294967296 AND currency = $3',
    ),
    /^credit returned 1 for a payment of another amount/,
  ],
  'an amount within a tolerance': [
    creditWhere('reference = $1 AND abs(amount - $2) <= amount * 0.0005 AND currency = $3'),
    /^credit returned 1 for a payment of another amount/,
  ],
  'a credit that deletes the unpaid orders of other amounts': [
    withCredit(async ({ reference, amount, currency }) => {
      const count = await write(MARK, [reference, amount, currency]);
      if (count === 1)
        await write('DELETE FROM orders WHERE paid_at IS NULL AND amount = $1', [amount + 1]);
      return count;
    }),
    /^Another order was removed/,
  ],
  'a currency that is joined by OR': [
    creditWhere("reference = $1 AND amount = $2 AND currency = $3 OR currency = 'XAF'"),
    /^credit returned \d+, and paid another order too.*AND/,
  ],
  'an `unpaid` that lists the paid orders': [
    unpaidBy(() => references('paid_at IS NOT NULL')),
    /^unpaid lists an order (that is not unpaid|after its credit)/,
  ],
  'an `unpaid` that streams all orders': [
    unpaidBy(async function* () {
      yield* await references('true');
    }),
    /^unpaid lists an order after its credit/,
  ],
  'an `unpaid` that lists rows': [
    unpaidBy((() => query('SELECT reference FROM orders', [])) as unknown as Orders['unpaid']),
    /^unpaid threw: it lists .* but must list references as text/,
  ],
  "an `unpaid` that gives the driver's result": [
    unpaidBy((() => pool.query('SELECT reference FROM orders')) as unknown as Orders['unpaid']),
    /^unpaid threw: it returned .* but must return an array or a stream/,
  ],
  'a `paid` that lists unpaid orders too': [
    withOrders({ paid: () => references('true') }),
    /^paid lists a new unpaid order/,
  ],
  'an `unpaid` without the tenant': [
    {
      ...unpaidBy(() => references('paid_at IS NULL')),
      tenants: ['shop-a', 'shop-b'],
    },
    /^unpaid lists another tenant's order/,
  ],
} satisfies typeof broken);

it('accuses no right orders with lists, and without a count', async () => {
  expect(
    await faultsOf({
      ...right,
      elsewhere: right.orders.find,
      orders: {
        ...right.orders,
        async credit({ reference, amount, currency }) {
          await write(MARK, [reference, amount, currency]);
          return null;
        },
        unpaid: () => references('paid_at IS NULL'),
        async *paid() {
          yield* await references('paid_at IS NOT NULL');
        },
      },
    }),
  ).toEqual([]);
});

it('says what it cannot test', () => {
  const untested: string[] = [];
  const test = Object.assign(() => undefined, { skip: (title: string) => untested.push(title) });
  testOrders({ ...right, effects, test });
  expect(untested).toContainEqual(
    expect.stringMatching(/^not tested: further writes are in the transaction of the credit/),
  );
  expect(untested).toContainEqual(
    expect.stringMatching(/^not tested: two processes credit an order once/),
  );
});

it('accuses no right orders', async () => {
  expect(
    await faultsOf({
      ...withCredit(({ reference, amount, currency }) =>
        transaction(async (client) => {
          const count = await write(MARK, [reference, amount, currency], client);
          if (count === 1) await write(WALLET, [reference], client);
          return count;
        }),
      ),
      effects,
      elsewhere: right.orders.find,
      later: {
        edit: (reference) =>
          pool.query("UPDATE orders SET status = 'edited' WHERE reference = $1", [reference]),
      },
    }),
  ).toEqual([]);
});

it.each(Object.keys(broken))(
  'names the fault of %s',
  { tags: ['P01', 'P02', 'P22', 'P23', 'P27', 'P28', 'P29', 'P30', 'P37', 'P38'] },
  async (name) => {
    const [options, sentence] = broken[name]!;
    expect(await faultsOf(options, sentence)).toContainEqual(expect.stringMatching(sentence));
  },
);

it('names the fault of a credit without COMMIT', async () => {
  const leaky = new Pool({ connectionString: server.url, max: 20, min: 20 });
  leaky.on('error', () => undefined);
  const credit: Credit = async ({ reference, amount, currency }) => {
    const client = await leaky.connect();
    await client.query('BEGIN');
    const count = await write(MARK, [reference, amount, currency], client);
    client.release();
    return count;
  };
  const faults = await faultsOf({ ...withCredit(credit), elsewhere: right.orders.find });
  expect(faults.filter((fault) => fault.includes('COMMIT'))).not.toEqual([]);
  await pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'",
  );
  await leaky.end();
}, 180_000);
