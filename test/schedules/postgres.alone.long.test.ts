/** The designs of a credit on a real PostgreSQL: finds the broken ones, and accepts the others. */
import { testSchedules, type TestSchedulesOptions } from '@paylink/testing/schedules';
import { trySchedules } from '@paylink/testing/schedules/internal';
import { describe, expect, it, test } from 'vitest';
import { shopAt } from './explore.js';
import { BROKEN, RIGHT } from './designs.js';
import { exploreOnPostgres, url } from './postgres.js';

const LIMIT = 120_000;

it.each(Object.entries(BROKEN))(
  'Q20 I03 P05 tells the fault of %s',
  async (design, [only, sentence]) => {
    const { faults, stories } = await exploreOnPostgres(design, only);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
    expect(stories[0]!.split('\n').length).toBeLessThanOrEqual(23);
  },
  LIMIT,
);

it.each(RIGHT)(
  'Q20 I04 accepts %s',
  async (design) => {
    const { faults, orders, cuts, notTested } = await exploreOnPostgres(design);
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThan(10);
    expect(cuts).toBeGreaterThanOrEqual(12);
    expect(notTested.filter((sentence) => !sentence.startsWith('further writes'))).toEqual([]);
  },
  LIMIT,
);

it('Q20 tells the same story of a lock in memory twice', async () => {
  const [only, sentence] = BROKEN['a lock in memory'];
  const first = await exploreOnPostgres('a lock in memory', only);
  expect(first.faults).toEqual([expect.stringMatching(sentence)]);
  expect(await exploreOnPostgres('a lock in memory', only)).toEqual(first);
});

describe('testSchedules', () => {
  const withDesign: TestSchedulesOptions['test'] = (title, run, timeout) =>
    test(
      title,
      async (context) => {
        process.env['DESIGN'] = 'one write';
        await run(context);
      },
      timeout,
    );
  testSchedules({ test: withDesign, module: shopAt('postgres'), databaseUrl: url });
});

it('names the variable if the module reads its address from another one', async () => {
  process.env['DATABASE_URL'] = url;
  const options = { module: shopAt('postgres'), databaseUrl: url, databaseVariable: 'OTHER_URL' };
  await expect(trySchedules(options)).rejects.toThrow(
    /did not connect to the address in OTHER_URL/,
  );
  delete process.env['DATABASE_URL'];
});

it('Q20 tries three deliveries, and says where the time limit ended it', async () => {
  process.env['DESIGN'] = 'one write';
  const options = { module: shopAt('postgres'), databaseUrl: url, callers: 3, timeLimit: 5_000 };
  const { findings, orders, notTested } = await trySchedules(options);
  expect(findings).toEqual([]);
  expect(orders.tried).toBeGreaterThan(0);
  expect(orders.left).toBeGreaterThan(0);
  expect(notTested[0]).toMatch(/^\d+ or more orders, after \d+: a limit/);
}, 120_000);
