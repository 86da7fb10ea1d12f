/**
 * Orders on PostgreSQL whose fault, or whose innocence, shows under a condition: the source of a
 * credit, the age of an order, the second call, or a column that refuses a value.
 */
import { testOrders } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import { faultsOf, type Broken } from './faults.js';
import { creditBy, onTable, pool, references, right, withOrders, write } from './on-postgres.js';

await pool.query(`
  CREATE TYPE currency AS ENUM ('XOF');
  CREATE TABLE enumerated (LIKE orders INCLUDING ALL);
  ALTER TABLE enumerated ALTER currency TYPE currency USING currency::currency;
  CREATE TABLE checked (LIKE orders INCLUDING ALL, CHECK (amount >= 100));
  CREATE TABLE small (LIKE orders INCLUDING ALL);
  ALTER TABLE small ALTER amount TYPE integer`);

async function* stream(rest: string): AsyncGenerator<string> {
  yield* await references(rest);
}
const onlyStream = stream('paid_at IS NULL');

/** Credits for the schedule by another condition. */
const bySchedule = (condition: string): Broken => {
  const credit = creditBy(`UPDATE orders SET paid_at = now() WHERE ${condition}`);
  return withOrders({
    credit: (payment, context) =>
      (context.source === 'reconcile' ? credit : right.orders.credit)(payment, context),
  });
};

const broken: Record<string, readonly [Broken, RegExp]> = {
  'an `unpaid` that lists the newest orders first': [
    withOrders({
      unpaid: () => references('paid_at IS NULL ORDER BY created_at DESC LIMIT 100'),
    }),
    /^unpaid no longer lists an unpaid order after later ones were added.*oldest first/,
  ],
  'an `unpaid` that gives one stream for all calls': [
    withOrders({ unpaid: () => onlyStream }),
    /^unpaid does not list a new order at the second call.*a new query or stream/,
  ],
  'an `unpaid` that lists the orders of one amount alone': [
    withOrders({ unpaid: () => references('amount = 1500') }),
    /^unpaid lists an order after its credit/,
  ],
  'a credit for the webhook alone': [
    withOrders({
      credit: (payment, context) =>
        context.source === 'webhook' ? right.orders.credit(payment, context) : 0,
    }),
    /^credit does not pay an order if the source is 'settle'.*only the row decides/,
  ],
  'a credit that pays again from the schedule': [
    bySchedule('reference = $1 AND amount = $2 AND currency = $3'),
    /^credit returned 1 for an order that was already paid/,
  ],
  'a credit without the currency from the schedule': [
    bySchedule('reference = $1 AND amount = $2 AND $3::text IS NOT NULL AND paid_at IS NULL'),
    /^credit returned 1 for a payment of another currency/,
  ],
  'a credit that compares 32-bit floats': [
    withOrders({
      async credit({ reference, amount, currency }) {
        const sql =
          'UPDATE orders SET paid_at = now() WHERE reference = $1 AND amount::real = $2::real AND currency = $3 AND paid_at IS NULL';
        return write(sql, [reference, Math.fround(amount), currency]);
      },
    }),
    /^credit returned 1 for a payment of another amount/,
  ],
};

it.each(Object.keys(broken))('names the fault of %s', { tags: 'P38' }, async (name) => {
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const [options, sentence] = broken[name]!;
  expect(await faultsOf(options, sentence)).toContainEqual(expect.stringMatching(sentence));
});

/** Runs the suite as vitest and node:test do. Returns its faults, and what it skipped. */
async function reportOf(options: Broken): Promise<{ faults: string[]; skipped: string[] }> {
  const skipped: string[] = [];
  const faults: string[] = [];
  const runs: (() => Promise<void>)[] = [];
  const test = Object.assign(
    (_: string, run: (...context: unknown[]) => Promise<void>) => {
      const skip = (note: string): unknown => skipped.push(note);
      runs.push(() => run({ skip }));
    },
    { skip: () => undefined },
  );
  testOrders({ ...options, test });
  for (const run of runs)
    await run().catch((error: unknown) => faults.push((error as Error).message));
  return { faults, skipped };
}

describe('right orders', () => {
  it('are not accused if `unpaid` leaves out young orders, and says what it could not test', async () => {
    const { faults, skipped } = await reportOf(
      withOrders({
        unpaid: () => references("paid_at IS NULL AND created_at < now() - interval '5 minutes'"),
      }),
    );
    expect(faults).toEqual([]);
    expect(skipped).toEqual([
      expect.stringMatching(/^not tested: unpaid lists the unpaid orders.*\(.*young orders/),
      expect.stringMatching(/^not tested: unpaid lists the oldest order first.*\(.*young orders/),
    ]);
  });

  it('are not accused if the column of the currency is an enumeration', async () => {
    expect(await reportOf(onTable('enumerated'))).toEqual({
      faults: [],
      skipped: [expect.stringMatching(/^not tested: find returns the currency.*enum currency/)],
    });
  });

  it("are not accused if the table refuses an amount, and gives the database's reason", async () => {
    const { faults, skipped } = await reportOf(onTable('checked'));
    expect(faults).toEqual([]);
    expect(skipped).toEqual([
      expect.stringMatching(
        /^not tested: an order of 1 is found and credited exactly \(.*violates check constraint/,
      ),
    ]);
  });

  it('are not accused if amounts are integers of 32 bits, beyond which it says what it could not test', async () => {
    const { faults, skipped } = await reportOf(onTable('small'));
    expect(faults).toEqual([]);
    expect(skipped).toEqual([
      expect.stringMatching(/^not tested: an order of 2147483648 .*out of range/),
    ]);
  });

  it('are not accused if their references stream from the database', async () => {
    const options = withOrders({
      unpaid: () => stream('paid_at IS NULL'),
      paid: () => stream('paid_at IS NOT NULL'),
    });
    expect(await reportOf(options)).toEqual({ faults: [], skipped: [] });
  });
});

it('warns under a runner whose running tests cannot skip', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  expect(await faultsOf(onTable('checked'))).toEqual([]);
  expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^not tested: an order of 1 /));
});
