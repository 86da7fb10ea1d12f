/** The designs of a credit on a real MariaDB: finds the broken ones, and accepts the others. */
import { createPool } from 'mysql2/promise';
import { afterAll, expect, it } from 'vitest';
import { startMariaDb } from '../servers/mariadb.js';
import { explore, shopAt } from './explore.js';
import { BROKEN, RIGHT } from './designs.js';
import { openTapped } from './taps.js';

const LIMIT = 120_000;
const server = await startMariaDb({ 'innodb-flush-log-at-trx-commit': 2 });
const merchant = createPool({ uri: server.url, multipleStatements: true });
await merchant.query(`
  CREATE TABLE orders (reference varchar(64) PRIMARY KEY, amount bigint, currency varchar(3), paid_at datetime NULL);
  CREATE TABLE receipts (reference varchar(64), KEY (reference))`);
afterAll(async () => {
  await merchant.end();
  await server.close();
});

const exploreOnMariaDb = (design: string, only?: 'orders' | 'cuts') =>
  explore(design, { module: shopAt('mysql'), databaseUrl: server.url, only });

/** The others need locks or statements of PostgreSQL. */
const isOnBoth = (design: string): boolean => !/INSERT|claim|SERIALIZABLE|advisory/.test(design);

it.each(Object.entries(BROKEN).filter(([design]) => isOnBoth(design)))(
  'Q20 I03 P05 tells the fault of %s',
  async (design, [only, sentence]) => {
    const { faults } = await exploreOnMariaDb(design, only);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
  },
  LIMIT,
);

it.each(RIGHT.filter(isOnBoth))(
  'Q20 I04 accepts %s',
  async (design) => {
    const { faults, orders, cuts } = await exploreOnMariaDb(design);
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThan(10);
    expect(cuts).toBeGreaterThanOrEqual(12);
  },
  LIMIT,
);

it('changes no byte of prepared, repeated and large statements', async () => {
  const tapped = await openTapped(server.url);
  const pool = createPool({ uri: tapped.url, connectionLimit: 2, multipleStatements: true });
  await pool.query('CREATE TEMPORARY TABLE t (body longtext); SELECT 1; SELECT 2');
  // Below max_allowed_packet: a larger statement makes the server reset the connection.
  await pool.execute('SELECT ? AS body', ['x'.repeat(10_000_000)]);
  for (let value = 0; value < 3; value += 1) await pool.execute('SELECT ? + 1', [value]);
  await expect(pool.query('SELECT * FROM nowhere')).rejects.toThrow('nowhere');
  await pool.query("DO 1; CALL nothing('é')").catch(() => undefined);
  await pool.query('SELECT REPEAT(?, 5000000)', ['y']);
  await pool.end();
  const { bytes, before, behind } = await tapped.end();
  expect(bytes).toBeGreaterThan(5_000_000);
  expect(behind).toEqual(before);
});

it('refuses compression with a sentence', async () => {
  const options = { module: shopAt('mysql'), databaseUrl: `${server.url}?compress=true` };
  await expect(explore('one write', options)).rejects.toThrow(/asked for compression/);
});
