/** Credits on SQLite, whose statements a hook of the driver reports. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, expect, it } from 'vitest';
import { explore, removeBundle, shopAt } from './explore.js';

const folder = mkdtempSync(join(tmpdir(), 'paylink-schedules-'));
const databaseUrl = join(folder, 'shop.db');
const db = new Database(databaseUrl);
db.exec(`
  CREATE TABLE orders (reference text PRIMARY KEY, amount integer, currency text, paid_at integer);
  CREATE TABLE receipts (reference text)`);
db.close();
afterAll(async () => {
  await removeBundle();
  rmSync(folder, { recursive: true });
});

const exploreOnSqlite = (design: string, only: 'orders' | 'cuts') =>
  explore(design, { module: shopAt('sqlite'), databaseUrl, only });

it.each(['one write', 'one write and a receipt, in a transaction'])(
  'accepts %s, killed at each statement',
  { tags: ['Q20', 'I04'], timeout: 120_000 },
  async (design) => {
    const { faults, cuts } = await exploreOnSqlite(design, 'cuts');
    expect(faults).toEqual([]);
    expect(cuts).toBeGreaterThanOrEqual(6);
  },
);

it(
  'accepts one write in every sequence of two processes',
  { tags: ['Q20', 'I04'], timeout: 120_000 },
  async () => {
    const { faults, orders } = await exploreOnSqlite('one write', 'orders');
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThanOrEqual(6);
  },
);

it.each([
  ['a receipt after the commit', 'cuts', /^The effect is lost: it is written after the commit/],
  ['an answer before the commit', 'cuts', /^A delivery is acknowledged before the commit/],
  ['a read, then a write', 'orders', /^Two deliveries both credit/],
] as const)(
  'tells the fault of %s',
  { tags: ['Q20', 'I03'], timeout: 120_000 },
  async (design, only, sentence) => {
    const { faults, stories } = await exploreOnSqlite(design, only);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
    expect(stories.join('\n')).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
  },
);

it(
  'tells that the broken release of the demo credits no order, and accepts the right one',
  { tags: ['Q20', 'I03'], timeout: 120_000 },
  async () => {
    const options = { module: shopAt('demo'), databaseUrl: join(folder, 'demo.db') };
    const { faults, stories } = await explore('the broken release', { ...options, only: 'orders' });
    expect(faults).toEqual([expect.stringMatching(/^No delivery credits an order/)]);
    expect(stories[0]).toMatch(/UPDATE orders SET paid_reference .* 0 rows/);
    const right = await explore('the right release', { ...options, only: 'cuts' });
    expect(right.faults).toEqual([]);
    expect(right.notTested).toEqual([expect.stringMatching(/^two orders that share a row/)]);
  },
);

it('says that SQLite under another driver is not tested', async () => {
  const createOrder = (): void => undefined;
  const options = { module: shopAt('memory'), databaseUrl, createOrder };
  const { notTested, orders, cuts } = await explore('', options);
  expect(notTested).toEqual([expect.stringMatching(/^SQLite without .*libsql/)]);
  expect({ orders, cuts }).toEqual({ orders: 0, cuts: 0 });
});
