/** The designs of a credit on a real PostgreSQL: finds the broken ones, and accepts the others. */
import type { TestSchedulesOptions } from '@paylink/testing/schedules';
import { describe, expect, it, test } from 'vitest';
import { shopAt, testSchedules, trySchedules } from './explore.js';
import { BROKEN, RIGHT } from './designs.js';
import { exploreOnPostgres, url } from './postgres.js';

const LIMIT = 120_000;

it.each(Object.entries(BROKEN))(
  'tells the fault of %s',
  { tags: ['Q20', 'I03', 'P05'], timeout: LIMIT },
  async (design, [only, sentence]) => {
    const { faults, stories } = await exploreOnPostgres(design, only);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
    expect(stories[0]!.split('\n').length).toBeLessThanOrEqual(23);
  },
);

it.each(RIGHT)('accepts %s', { tags: ['Q20', 'I04'], timeout: LIMIT }, async (design) => {
  const { faults, orders, cuts, notTested } = await exploreOnPostgres(design);
  expect(faults).toEqual([]);
  expect(orders).toBeGreaterThanOrEqual(6);
  expect(cuts).toBeGreaterThanOrEqual(12);
  expect(notTested.filter((sentence) => !/^(further writes|two orders)/.test(sentence))).toEqual(
    [],
  );
});

it.each(['a read FOR UPDATE SKIP LOCKED, then a write', 'one write, beside a worker'])(
  'accepts %s after each cut',
  { tags: ['Q20', 'I04'], timeout: LIMIT },
  async (design) => {
    const { faults, cuts } = await exploreOnPostgres(design, 'cuts');
    expect(faults).toEqual([]);
    expect(cuts).toBeGreaterThanOrEqual(12);
  },
);

it('tells the same story of a lock in memory twice', { tags: 'Q20' }, async () => {
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

it('refuses a total that no credit moves', { timeout: LIMIT }, async () => {
  process.env['DESIGN'] = 'one write';
  const options = { module: shopAt('postgres'), databaseUrl: url, total: () => 0 };
  // The number of a try with two orders.
  await expect(trySchedules({ ...options, replay: 6 })).rejects.toThrow(/does not move the total/);
});

it('tries several modules at once without a warning of a leak', { timeout: LIMIT }, async () => {
  process.env['DESIGN'] = 'one write';
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', onWarning);
  const options = { module: shopAt('postgres'), databaseUrl: url, timeLimit: 1_000 };
  const several = Array.from({ length: 4 }, () => trySchedules({ ...options, callers: 3 }));
  await Promise.all(several);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

it(
  'tries three deliveries, and says where the time limit ended it',
  { tags: 'Q20', timeout: 120_000 },
  async () => {
    process.env['DESIGN'] = 'one write';
    const options = { module: shopAt('postgres'), databaseUrl: url, callers: 3, timeLimit: 5_000 };
    const { findings, orders, notTested } = await trySchedules(options);
    expect(findings).toEqual([]);
    expect(orders.tried).toBeGreaterThan(0);
    expect(orders.left).toBeGreaterThan(0);
    expect(notTested[0]).toMatch(/^\d+ or more orders, after \d+: a limit/);
  },
);
