/** The designs of a credit on a real MariaDB: finds the broken ones, and accepts the others. */
import { createPool } from 'mysql2/promise';
import { afterAll, expect, it } from 'vitest';
import { startMariaDb } from '../servers/mariadb.js';
import { explore, removeBundle, shopAt } from './explore.js';
import { BROKEN, isOnBoth, RIGHT, TABLES } from './designs.js';
import { openTapped } from './taps.js';

const LIMIT = 120_000;
const server = await startMariaDb({ 'innodb-flush-log-at-trx-commit': 2 });
const merchant = createPool({ uri: server.url, multipleStatements: true });
await merchant.query(TABLES.mysql);
afterAll(async () => {
  await removeBundle();
  await merchant.end();
  await server.close();
});

const exploreOnMariaDb = (design: string, only?: 'orders' | 'cuts') =>
  explore(design, { module: shopAt('mysql'), databaseUrl: server.url, only });

it.each(Object.entries(BROKEN).filter(([design]) => isOnBoth(design)))(
  'tells the fault of %s',
  { tags: ['Q20', 'I03', 'P05'], timeout: LIMIT },
  async (design, [only, sentence]) => {
    const { faults } = await exploreOnMariaDb(design, only);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
  },
);

it.each(RIGHT.filter(isOnBoth))(
  'accepts %s',
  { tags: ['Q20', 'I04'], timeout: LIMIT },
  async (design) => {
    const { faults, orders, cuts } = await exploreOnMariaDb(design);
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThanOrEqual(6);
    expect(cuts).toBeGreaterThanOrEqual(12);
  },
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
