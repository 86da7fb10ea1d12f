/** The suite and its options on a real PostgreSQL. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { TestSchedulesOptions } from '@paylink/testing/schedules';
import { describe, expect, it, test } from 'vitest';
import { shopAt, testSchedules, trySchedules } from './explore.js';
import { BROKEN } from './designs.js';
import { exploreOnPostgres, url } from './postgres.js';

const LIMIT = 120_000;
const options = { module: shopAt('sql'), databaseUrl: url };

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
  testSchedules({ test: withDesign, ...options });
});

it('names the variable if the module reads its address from another one', async () => {
  process.env['DATABASE_URL'] = url;
  await expect(trySchedules({ ...options, databaseVariable: 'OTHER_URL' })).rejects.toThrow(
    /did not connect to the address in OTHER_URL/,
  );
  delete process.env['DATABASE_URL'];
});

it('refuses a total that no credit moves', { timeout: LIMIT }, async () => {
  process.env['DESIGN'] = 'one write';
  // The number of a try with two orders.
  const replay = trySchedules({ ...options, total: () => 0, replay: 6 });
  await expect(replay).rejects.toThrow(/does not move the total/);
});

it('tries several modules at once without a warning of a leak', { timeout: LIMIT }, async () => {
  process.env['DESIGN'] = 'one write';
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', onWarning);
  const several = Array.from({ length: 4 }, () =>
    trySchedules({ ...options, callers: 3, timeLimit: 1_000 }),
  );
  await Promise.all(several);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

it(
  'tries three deliveries, and says where the time limit ended it',
  { tags: 'Q20', timeout: 120_000 },
  async () => {
    process.env['DESIGN'] = 'one write';
    const limits = { callers: 3, timeLimit: 5_000 };
    const { findings, orders, notTested } = await trySchedules({ ...options, ...limits });
    expect(findings).toEqual([]);
    expect(orders.tried).toBeGreaterThan(0);
    expect(orders.left).toBeGreaterThan(0);
    expect(notTested[0]).toMatch(/^\d+ or more orders, after \d+: the time limit/);
  },
);

const GREETING = Buffer.from([74, 0, 0, 0, 10, ...Buffer.from('8.4.0')]);
/** The login succeeds. A row of 9 bytes is announced. */
const HALF = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05ID\0\0\0\x09\0');

it.each([
  ['a PostgreSQL that closes at once', 'postgres', ''],
  ['a PostgreSQL that closes in the middle of an answer', 'postgres', HALF],
  ['a MySQL that closes at once', 'mysql', ''],
  ['a MySQL that closes in the middle of its greeting', 'mysql', GREETING],
])('refuses %s, and leaves no process', { timeout: LIMIT }, async (_, scheme, answer) => {
  const server = createServer((socket) => socket.on('error', () => undefined).end(answer));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const databaseUrl = `${scheme}://shop@127.0.0.1:${port}/shop`;
  await expect(trySchedules({ ...options, databaseUrl })).rejects.toThrow(
    /createOrder|not acknowledged/,
  );
  server.close();
  const left = execFileSync('ps', ['-eo', 'ppid,args'], { encoding: 'utf8' });
  expect(left).not.toMatch(new RegExp(`^ *${process.pid} .*${options.module}`, 'm'));
});
