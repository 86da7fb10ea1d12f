import { inspect } from 'node:util';
import { ConfigurationError } from '@paylink/core';
import { migrationSql, postgresStore, type MarkTable } from '@paylink/postgres';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { neverAborted, openServer } from './shop.js';

let server: Awaited<ReturnType<typeof openServer>>;
let pool: Pool;
beforeAll(async () => {
  server = await openServer();
  pool = new Pool({ connectionString: server.url });
}, 120_000);
afterAll(async () => {
  await pool.end();
  await server.close();
});

const nothing = () => Promise.resolve();

/** As JavaScript callers do, who do not read our types. */
const make = postgresStore as unknown as (pool: unknown, options?: unknown) => unknown;

describe('postgresStore, made wrongly', () => {
  it.each<[string, unknown, unknown?]>([
    ['pool', undefined],
    ['pool', null],
    ['pool', 'postgres://localhost'],
    ['pool', {}],
    ['pool', new Client()],
    ['pool', { connect: nothing }],
    ['pool', { query: nothing }],
    ['pool', { connect: nothing, query: nothing, release: nothing }],
    ['pool', { connect: nothing, query: nothing, processID: 7 }],
    ['pool', { transaction: true }],
    ['options', new Pool(), null],
    ['schma', new Pool(), { schma: 'shop' }],
    ['table', new Pool(), { table: '' }],
    ['table', new Pool(), { table: 'a'.repeat(64) }],
    ['schema', new Pool(), { schema: 7 }],
    ['idleTimeout', new Pool(), { idleTimeout: -1 }],
    ['idleTimeout', new Pool(), { idleTimeout: '5s' }],
    ['nothingWritten', new Pool(), { nothingWritten: 'ignore' }],
    ['logger', new Pool(), { logger: {} }],
    ['logger', new Pool(), { logger: null }],
    ['isolation', new Pool(), { isolation: 'snapshot' }],
    ['prepare', new Pool(), { prepare: 'no' }],
    ['tx', new Pool(), { tx: {} }],
    ['query', new Pool(), { query: () => [] }],
    ['query', { transaction: nothing }, { query: 'sql' }],
    ['isolation', { transaction: nothing }, { isolation: 'serializable' }],
    ['prepare', { transaction: nothing }, { prepare: false }],
  ])('names the option %s', (option, database, ...options) => {
    const thrown = vi.fn();
    try {
      make(database, ...options);
    } catch (error) {
      thrown(error);
    }
    expect(thrown).toHaveBeenCalledWith(expect.any(ConfigurationError));
    expect(thrown).toHaveBeenCalledWith(expect.objectContaining({ option }));
  });

  it('says of a Client what to give in its place', () => {
    expect(() => make(new Client())).toThrow('new Pool(...)');
  });

  it('does not show the password of the pool', () => {
    const store = postgresStore(new Pool({ connectionString: 'postgres://shop:hush-hush@127.0.0.1/shop' }));
    expect(inspect(store, { depth: 9, showHidden: true })).not.toContain('hush-hush');
  });
});

describe('the table of the marks', () => {
  const tables: MarkTable[] = [{}, { table: 'My "marks"; --' }, { schema: 'pay link' }, { schema: "o'brien", table: 'marks' }];

  it.each(tables)('is made once by many that migrate at the same time, and used by its name: %o', async (table) => {
    const stores = Array.from({ length: 8 }, () => postgresStore(pool, table));
    const sibling = postgresStore(pool, { ...table, table: 'sibling' });
    await Promise.all([...stores, sibling].map((store) => store.migrate()));
    await stores[0]!.migrate();
    expect(await stores[1]!.run('a key', nothing, { signal: neverAborted })).toBe('done');
    expect(await stores[2]!.isDone('a key')).toBe(true);
  });

  it('keeps stores of different tables apart', async () => {
    const other = postgresStore(pool, { table: 'other_marks' });
    await other.migrate();
    expect(await other.isDone('a key')).toBe(false);
    const inner = () => other.run('nested', nothing, { signal: neverAborted }).then((result) => expect(result).toBe('done'));
    expect(await postgresStore(pool).run('nested', inner, { signal: neverAborted })).toBe('done');
  });

  it('gives work what `tx` makes of the client', async () => {
    const store = postgresStore(pool, {
      tx: (client) => ({ ask: async () => expect((await client.query('SELECT 1')).rowCount).toBe(1) }),
    });
    expect(await store.run('made of a client', ({ tx }) => tx.ask(), { signal: neverAborted })).toBe('done');
  });

  it('can be made by the SQL in migrations of your own', async () => {
    const table = { schema: 'own', table: 'marks' };
    await pool.query(migrationSql(table));
    await pool.query(migrationSql(table));
    expect(await postgresStore(pool, table).run('a key', nothing, { signal: neverAborted })).toBe('done');
  });

  it('is reported as missing at the first use, with the line that creates it', async () => {
    for (const table of [{ table: 'nowhere' }, { schema: 'nowhere' }]) {
      const store = postgresStore(pool, table);
      await expect(store.isDone('a key')).rejects.toThrow('store.migrate()');
      const work = vi.fn(nothing);
      await expect(store.run('a key', work, { signal: neverAborted })).rejects.toThrow('store.migrate()');
      expect(work).not.toHaveBeenCalled();
    }
    expect(pool.totalCount).toBe(pool.idleCount);
  });

  it('can be migrated at every start by a role that may not create anything', async () => {
    // Roles are of the whole server, which other tests may share.
    const role = `shop_${process.pid}_${Date.now()}`;
    await pool.query(`CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, DELETE ON paylink_marks TO ${role}`);
    const limited = new Pool({ connectionString: server.url.replace('postgres@', `${role}@`) });
    const store = postgresStore(limited);
    await store.migrate();
    expect(await store.run('by shop', nothing, { signal: neverAborted })).toBe('done');
    await limited.end();
  });

  it('forgets marks only by forget(), only older ones, and then a replay runs again (H01)', async () => {
    const store = postgresStore(pool, { table: 'forgetful' });
    await store.migrate();
    for (const key of ['old', 'new']) await store.run(key, nothing, { signal: neverAborted });
    await pool.query("UPDATE forgetful SET done_at = now() - interval '3 years' WHERE key = sha256('old')");
    await pool.query(
      "INSERT INTO forgetful SELECT sha256(n::text::bytea), now() - interval '4 years' FROM generate_series(1, 25000) AS n",
    );
    expect(await store.run('old', nothing, { signal: neverAborted })).toBe('duplicate');
    expect(await store.forget({ olderThan: new Date(Date.now() - 2 * 365 * 86_400_000) })).toBe(25_001);
    expect([await store.isDone('old'), await store.isDone('new')]).toEqual([false, true]);
    expect(await store.run('old', nothing, { signal: neverAborted })).toBe('done');
  });

  it('gives a batch the time that a large table takes', async () => {
    const store = postgresStore(pool, { table: 'large' });
    await store.migrate();
    const olderThan = new Date(Date.now() - 1_000);
    await store.forget({ olderThan });
    const other = await pool.connect();
    await other.query('BEGIN; LOCK TABLE large IN SHARE MODE');
    const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'large'::regclass";
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let isOver = false;
      const forgetting = store.forget({ olderThan }).finally(() => (isOver = true));
      while (!isOver && (await other.query(waiting)).rowCount === 0) await new Promise(setImmediate);
      vi.advanceTimersByTime(599_000);
      await other.query('COMMIT');
      expect(await forgetting).toBe(0);
    } finally {
      vi.useRealTimers();
      other.release(true);
    }
  });

  it.each([undefined, 'yesterday', new Date(Number.NaN), new Date(Date.now() + 60_000)])(
    'does not forget what is older than %s',
    async (olderThan) => {
      const store = postgresStore(pool);
      await expect(store.forget({ olderThan } as { olderThan: Date })).rejects.toThrow('olderThan');
    },
  );
});
