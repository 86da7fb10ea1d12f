import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { neon } from '@neondatabase/serverless';
import { ConfigurationError } from '@paylink/core';
import { migrationSql, postgresStore, type PostgresStore } from '@paylink/postgres';
import { drizzle as drizzleOverHttp } from 'drizzle-orm/neon-http';
import { drizzle } from 'drizzle-orm/pglite';
import Knex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import { Client, Pool } from 'pg';
import pgPromise from 'pg-promise';
import postgres from 'postgres';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { resolveToTwoAddresses } from '../../../test/servers/two-addresses.js';
import type { MarkTable } from '../src/sql.js';
import { keyOf, openServer, runOf, silent as logger, type Tx } from './shop.js';

let server: Awaited<ReturnType<typeof openServer>>;
let pool: Pool;
beforeAll(async () => {
  server = await openServer();
  pool = new Pool({ connectionString: server.url });
  // Far more stores than a process has.
  pool.setMaxListeners(0);
  pool.on('connect', (client) => client.setMaxListeners(0));
}, 120_000);
afterAll(async () => {
  await pool.end();
  await server.close();
});

const nothing = () => Promise.resolve();
const open = (table: MarkTable = {}) => postgresStore(pool, { ...table, logger });
/** For JavaScript callers, who do not read our types. */
const make = postgresStore as unknown as (pool: unknown, options?: unknown) => unknown;
const run = (store: PostgresStore<Tx>, reference: string) =>
  store.run(keyOf(reference), nothing, runOf(reference));

function failure(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

describe('postgresStore', () => {
  const driver = { transaction: nothing, query: nothing };

  it.each<[string, unknown, unknown?]>([
    ['pool', undefined],
    ['pool', null],
    ['pool', 'postgres://localhost'],
    ['pool', {}],
    ['pool', { connect: nothing }],
    ['pool', { query: nothing }],
    ['pool', { transaction: nothing }],
    ['pool', { transaction: true, query: nothing }],
    ['options', new Pool(), null],
    ['schma', new Pool(), { schma: 'shop' }],
    ['table', new Pool(), { table: '' }],
    ['table', new Pool(), { table: 'a\0b' }],
    ['table', new Pool(), { table: 'é'.repeat(32) }],
    ['schema', new Pool(), { schema: 7 }],
    ['idleTimeout', new Pool(), { idleTimeout: -1 }],
    ['idleTimeout', new Pool(), { idleTimeout: '5s' }],
    ['logger', new Pool(), { logger: {} }],
    ['logger', new Pool(), { logger: null }],
    ['isolation', new Pool(), { isolation: 'snapshot' }],
    ['tx', new Pool(), { tx: {} }],
    ['query', new Pool(), { query: () => [] }],
    ['isolation', driver, { isolation: 'serializable' }],
    ['tx', driver, { tx: nothing }],
  ])('names the invalid option %s', (option, database, ...options) => {
    const error = failure(() => make(database, ...options));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ option });
  });

  it('ignores options of a polluted prototype', async () => {
    const polluted = Object.prototype as Record<string, unknown>;
    const own = postgresStore(pool);
    await own.migrate();
    try {
      Object.assign(polluted, { table: 'elsewhere', schema: 'elsewhere' });
      expect(await postgresStore(pool, {}).isDone(keyOf('an order'))).toBe(false);
    } finally {
      delete polluted['table'];
      delete polluted['schema'];
    }
  });

  it('does not show the password of the pool', () => {
    const connectionString = 'postgres://shop:hush-hush@127.0.0.1/shop';
    const store = postgresStore(new Pool({ connectionString }));
    expect(inspect(store, { depth: 9, showHidden: true })).not.toContain('hush-hush');
  });
});

/** Has the shape of a driver: members by name. */
const shape = (...names: string[]) => Object.fromEntries(names.map((name) => [name, nothing]));
const url = 'postgres://shop:secret@127.0.0.1/shop';
const sqlite = shape('prepare', 'transaction', 'pragma', 'exec');

describe('postgresStore rejects drivers without transactions, and names an alternative', () => {
  it.each<[name: string, database: unknown, sentence: string]>([
    ['postgres.js', postgres(url), 'the sql of postgres.js'],
    ['Knex', Knex({ client: 'pg', connection: url }), 'a Knex'],
    ['Sequelize', new Sequelize(url), 'a Sequelize'],
    ['TypeORM', new DataSource({ type: 'postgres', url }), 'a DataSource of TypeORM'],
    ['pg-promise', pgPromise({ noWarnings: true })(url), 'a database of pg-promise'],
    ['Kysely', new Kysely({ dialect: new PostgresDialect({ pool: new Pool() }) }), 'a Kysely'],
    ['Prisma', shape('$transaction', '$queryRawUnsafe'), 'a PrismaClient'],
  ])('%s: { transaction, query }', (_, database, sentence) => {
    expect(() => make(database)).toThrow(`${sentence}, which needs an adapter`);
    expect(() => make(database)).toThrow('Use postgresStore({ transaction, query })');
  });

  it.each<[name: string, database: unknown, sentence: string]>([
    ['neon()', neon(url), 'Use a Pool of @neondatabase/serverless'],
    ['drizzle-orm/neon-http', drizzleOverHttp(neon(url)), 'Use drizzle-orm/neon-serverless'],
    ['better-sqlite3', sqlite, 'needs PostgreSQL: use a Pool of pg'],
    [
      'Drizzle over SQLite',
      { ...shape('execute', 'transaction'), $client: sqlite },
      'needs PostgreSQL: use a Pool of pg',
    ],
    ['supabase-js', shape('from', 'rpc'), "Use a Pool of pg with the database's URL"],
    ['a Client', new Client(), 'Use `new Pool(…)`'],
    ['a client of a pool', shape('connect', 'query', 'release'), 'Use `new Pool(…)`'],
  ])('%s', (_, database, sentence) => {
    expect(() => make(database)).toThrow(sentence);
  });

  it('any driver that runs two statements of one transaction in two, by migrate()', async () => {
    // As an ORM with a callback that forgets to pass its transaction on.
    const query = async (_: unknown, text: string) => (await pool.query<object>(text)).rows;
    const store = postgresStore({
      transaction: (work: (tx: object) => Promise<void>) => work({}),
      query,
    });
    await expect(store.migrate()).rejects.toMatchObject({
      option: 'transaction',
      message: 'transaction must run its statements in one transaction, but used two',
    });
  });

  it.each([
    ['gives no rows', { rowCount: 1 }],
    ['gives nothing', undefined],
  ])('a `query` that %s', async (_, answer) => {
    const query = () => Promise.resolve(answer as never);
    const store = postgresStore({ transaction: nothing, query });
    await expect(store.migrate()).rejects.toMatchObject({ option: 'query' });
  });

  it('a server before PostgreSQL 13', async () => {
    const query = () => Promise.resolve([{ version: 120_011, exists: true }]);
    const migrating = postgresStore({ transaction: nothing, query }).migrate();
    await expect(migrating).rejects.toBeInstanceOf(ConfigurationError);
    await expect(migrating).rejects.toThrow(
      'connects to PostgreSQL 12, but the store needs PostgreSQL 13 or newer',
    );
  });
});

it('migrate() names each address of a server that does not answer', async () => {
  const resolving = resolveToTwoAddresses();
  const closed = new Pool({ host: 'localhost', port: 1 });
  const migrating = postgresStore(closed, { logger }).migrate();
  await expect(migrating).rejects.toThrow(
    /^connect \w+ ::1:1.*, connect ECONNREFUSED 127.0.0.1:1$/,
  );
  resolving.mockRestore();
  await closed.end();
});

it('postgresStore accepts PGlite, and Drizzle over PGlite', async () => {
  const lite = new PGlite();
  const over = drizzle({ client: lite });
  for (const store of [postgresStore(lite, { logger }), postgresStore(over, { logger })]) {
    await store.migrate();
    const reference = `order-${Math.random()}`;
    const options = runOf(reference);
    expect(await store.run(keyOf(reference), nothing, options)).toBe('done');
    expect(await store.isDone(keyOf(reference))).toBe(true);
  }
  await lite.close();
});

describe('the table of the marks', () => {
  const tables: MarkTable[] = [
    {},
    { table: 'My "marks"; --' },
    { schema: 'pay link' },
    { schema: "o'brien\\", table: 'marks' },
  ];

  it.each(tables)('is created once if many migrate at the same time: %o', async (table) => {
    const stores = Array.from({ length: 8 }, () => open(table));
    const sibling = open({ ...table, table: 'sibling' });
    await Promise.all([...stores, sibling].map((store) => store.migrate()));
    await stores[0]!.migrate();
    expect(await run(stores[1]!, 'an order')).toBe('done');
    expect(await stores[2]!.isDone(keyOf('an order'))).toBe(true);
  });

  it('keeps stores with different tables apart', async () => {
    const other = open({ table: 'other_marks' });
    await other.migrate();
    expect(await other.isDone(keyOf('an order'))).toBe(false);
    const inner = async () => expect(await run(other, 'nested')).toBe('done');
    const outer = open().run(keyOf('nested'), inner, runOf('nested'));
    expect(await outer).toBe('done');
  });

  it('contains marks that can be found by hand', async () => {
    await run(open(), 'order-42');
    const found =
      "SELECT done_at FROM paylink_marks WHERE key = sha256('payment.succeeded:order-42')";
    expect((await pool.query(found)).rowCount).toBe(1);
  });

  it('accepts any text as a key, and stores a digest unchanged', async () => {
    const store = open();
    const digest = createHash('sha256').update("o'key").digest('hex');
    expect(await store.run("o'key", nothing, runOf('any'))).toBe('done');
    expect([await store.isDone("o'key"), await store.isDone(digest)]).toEqual([true, true]);
    expect(await store.isDone(digest.toUpperCase())).toBe(false);
  });

  it('can be created by the SQL in your own migrations', async () => {
    const table = { schema: 'own', table: 'marks' };
    expect(migrationSql(table)).toMatch(
      /^CREATE SCHEMA IF NOT EXISTS "own";\nCREATE TABLE [^;]*"own"."marks" [^;]*;\n$/,
    );
    for (let time = 0; time < 2; time += 1) await pool.query(migrationSql(table));
    expect(await run(open(table), 'an order')).toBe('done');
  });

  it('is reported with the line that creates it if it is missing', async () => {
    for (const table of [{ table: 'nowhere' }, { schema: 'nowhere' }]) {
      const store = open(table);
      await expect(store.isDone(keyOf('an order'))).rejects.toThrow('store.migrate()');
      const work = vi.fn(nothing);
      const running = store.run(keyOf('an order'), work, runOf('an order'));
      await expect(running).rejects.toThrow('store.migrate()');
      expect(work).not.toHaveBeenCalled();
    }
    expect(pool.totalCount).toBe(pool.idleCount);
  });

  it('can be migrated at every start by a role without the right to create', async () => {
    // Roles are of the whole server, which other tests may share.
    const role = `shop_${process.pid}_${Date.now()}`;
    const grant = `GRANT SELECT, INSERT, DELETE ON paylink_marks TO ${role}`;
    await pool.query(`CREATE ROLE ${role} LOGIN; ${grant}`);
    const connectionString = server.url.replace('postgres@', `${role}@`);
    const limited = new Pool({ connectionString });
    const store = postgresStore(limited, { logger });
    await store.migrate();
    expect(await run(store, 'by shop')).toBe('done');
    await limited.end();
  });

  it('loses marks only by forget(), only older ones, and a replay then runs again', async () => {
    const store = open({ table: 'forgetful' });
    await store.migrate();
    for (const reference of ['old', 'new']) await run(store, reference);
    await pool.query(`
      UPDATE forgetful SET done_at = now() - interval '3 years'
        WHERE key = sha256('payment.succeeded:old');
      INSERT INTO forgetful SELECT sha256(n::text::bytea), now() - interval '4 years'
        FROM generate_series(1, 25000) AS n`);
    expect(await run(store, 'old')).toBe('duplicate');
    const olderThan = new Date(Date.now() - 2 * 365 * 86_400_000);
    expect(await store.forget({ olderThan })).toBe(25_001);
    const done = [await store.isDone(keyOf('old')), await store.isDone(keyOf('new'))];
    expect(done).toEqual([false, true]);
    expect(await run(store, 'old')).toBe('done');
  });

  it('gets enough time per batch if it is large', async () => {
    const store = open({ table: 'large' });
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
      while (!isOver && (await other.query(waiting)).rowCount === 0) {
        await new Promise(setImmediate);
      }
      vi.advanceTimersByTime(599_000);
      await other.query('COMMIT');
      expect(await forgetting).toBe(0);
    } finally {
      vi.useRealTimers();
      other.release(true);
    }
  });

  it.each([undefined, 'yesterday', new Date(Number.NaN), new Date(Date.now() + 60_000)])(
    'keeps its marks if olderThan is %s',
    async (olderThan) => {
      const forgetting = open().forget({ olderThan } as { olderThan: Date });
      await expect(forgetting).rejects.toThrow('olderThan');
    },
  );
});
