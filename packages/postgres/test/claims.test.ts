import { postgresStore, type PoolOptions } from '@paylink/postgres';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MarkSql, type MarkTable } from '../src/marks.js';
import { credit, neverAborted, Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

const preparedOn = (table: MarkTable) => new MarkSql(table).run('0'.repeat(64), '0'.repeat(64), 0).prepared!;

/** Runs through one connection, and what each of them sent. */
async function open(options: PoolOptions<PoolClient> = {}) {
  const { pool, proxy } = await shop.faultyPool({ max: 1 });
  const store = postgresStore(pool, { schema: 'public', ...options });
  const run = async (besides: (tx: { query(sql: string): Promise<unknown> }) => Promise<unknown> = async () => undefined) => {
    const reference = await shop.order();
    proxy.statements.length = 0;
    const work: Parameters<typeof store.run>[1] = async ({ tx }) => {
      await credit(tx, reference);
      await besides(tx);
    };
    const result = await store.run(reference, work, { signal: neverAborted, turn: `turn of ${reference}` });
    expect(await shop.creditsOf(reference)).toBe(result === 'done' ? 1 : 0);
    return proxy.statements.map((sql) => sql.replace(/^BEGIN ISOLATION LEVEL [A-Z ]+;/, 'BEGIN;')).map((sql) => formOf(sql));
  };
  return { pool, proxy, store, run };
}

function formOf(sql: string): string {
  if (sql.startsWith('BEGIN; PREPARE') && sql.includes('; EXECUTE')) return 'prepare and execute';
  if (sql.startsWith('BEGIN; EXECUTE')) return 'execute';
  return sql.startsWith('BEGIN; INSERT') ? 'plain' : sql.split(' ', 1)[0]!;
}

const PREPARED = ['prepare and execute', 'UPDATE', 'COMMIT'];
const EXECUTED = ['execute', 'UPDATE', 'COMMIT'];
const PLAIN = ['plain', 'UPDATE', 'COMMIT'];

describe('the claim of a connection', () => {
  it.each([undefined, 'read committed', 'repeatable read', 'serializable'] as const)(
    'is prepared with its first transaction and executed from then on, under the isolation %s',
    async (isolation) => {
      const { run } = await open({ isolation });
      expect(await run()).toEqual(PREPARED);
      expect(await run()).toEqual(EXECUTED);
    },
  );

  it('is that of another store on the same pool and table too', async () => {
    const { pool, proxy, run } = await open();
    await run();
    const reference = await shop.order();
    proxy.statements.length = 0;
    const other = postgresStore(pool, { schema: 'public' });
    const options = { signal: neverAborted, turn: 'of the other store' };
    expect(await other.run(reference, ({ tx }) => credit(tx, reference), options)).toBe('done');
    expect(proxy.statements.map(formOf)).toEqual(EXECUTED);
  });

  it('has a name of its own for each table, since a session executes what it has under a name', async () => {
    const { pool, run } = await open();
    await run();
    const table = { schema: 'public', table: 'other_marks' };
    const other = postgresStore(pool, table);
    await other.migrate();
    const options = { signal: neverAborted, turn: 'turn' };
    expect(await other.run('key', ({ tx }) => tx.query('SELECT 1').then(() => undefined), options)).toBe('done');
    const { rows } = await pool.query<{ name: string }>('SELECT name FROM pg_prepared_statements');
    const names = [preparedOn({ schema: 'public' }).name, preparedOn(table).name];
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(names));
    expect(new Set(names).size).toBe(2);
  });

  it('is sent as a text where the session has lost what it prepared, and from then on', async () => {
    const { run } = await open();
    expect(await run((tx) => tx.query('DEALLOCATE ALL'))).toEqual(['prepare and execute', 'UPDATE', 'DEALLOCATE', 'COMMIT']);
    expect(await run()).toEqual(['execute', 'ROLLBACK', ...PLAIN]);
    expect(await run()).toEqual(PLAIN);
  });

  it('is sent as a text where the session has it already, as behind a pooler that shares sessions', async () => {
    const { pool, run } = await open();
    await pool.query(preparedOn({ schema: 'public' }).prepare);
    expect(await run()).toEqual(['prepare and execute', 'ROLLBACK', ...PLAIN]);
    expect(await run()).toEqual(PLAIN);
  });

  it('is sent as a text on a connection whose first claim failed, and is prepared on others', async () => {
    const { pool, proxy, run } = await open();
    // It fails after PREPARE, which no rollback undoes.
    await shop.admin.query('ALTER TABLE paylink_marks ADD CONSTRAINT full_disk CHECK (false) NOT VALID');
    await expect(run()).rejects.toMatchObject({ code: '23514' });
    await shop.admin.query('ALTER TABLE paylink_marks DROP CONSTRAINT full_disk');
    expect(proxy.statements.map(formOf)).toEqual(['prepare and execute', 'ROLLBACK']);
    expect(await run()).toEqual(PLAIN);
    const lost = new Promise((resolve) => pool.once('remove', resolve));
    proxy.cutAll();
    await lost;
    expect(await run()).toEqual(PREPARED);
  });

  it('works on a table that was dropped and made again meanwhile', async () => {
    const { pool, store, run } = await open();
    await run();
    await pool.query('ALTER TABLE paylink_marks RENAME TO old_marks');
    await expect(run()).rejects.toThrow('the table of the marks is missing');
    await store.migrate();
    expect(await run()).toEqual(EXECUTED);
    await pool.query('DROP TABLE old_marks');
  });

  it('is sent as a text where the option `prepare` is false', async () => {
    const { run } = await open({ prepare: false });
    expect([await run(), await run()]).toEqual([PLAIN, PLAIN]);
  });

  it('is sent as a text in a run without a turn', async () => {
    const { proxy, store } = await open();
    const reference = await shop.order();
    expect(await store.run(reference, ({ tx }) => credit(tx, reference), { signal: neverAborted })).toBe('done');
    expect(proxy.statements.map(formOf)).toEqual(PLAIN);
  });
});

it('credits once what comes a hundred times at once to sessions that have lost what they prepared (H02)', async () => {
  const pools = [shop.pool({ max: 1 }), shop.pool({ max: 1 })];
  const receivers = pools.map((pool) => shop.receiver(pool));
  for (const [number, deliver] of receivers.entries()) {
    expect(await deliver(await shop.order())).toBe(200);
    await pools[number]!.query('DEALLOCATE ALL');
  }
  const reference = await shop.order();
  const statuses = await Promise.all(Array.from({ length: 100 }, (_, number) => receivers[number % 2]!(reference)));
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(await shop.creditsOf(reference)).toBe(1);
});
