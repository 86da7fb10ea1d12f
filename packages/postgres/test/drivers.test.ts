/** The table of drivers and ORMs in the README, line by line, on real packages. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { neonConfig, Pool as NeonPool } from '@neondatabase/serverless';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import Knex from 'knex';
import { Kysely, PostgresDialect, sql as kyselySql, type Transaction } from 'kysely';
import pgPromise from 'pg-promise';
import postgres from 'postgres';
import { Sequelize, type Transaction as SequelizeTransaction } from 'sequelize';
import { DataSource, type EntityManager } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { creditOnce, keyOf, latch, receiverOn, runOf, Shop, silent as logger } from './shop.js';

let shop: Shop;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
  await shop.close();
});

/** A store, and a statement in its transaction. */
interface Driver {
  readonly store: PostgresStore<object>;
  readonly send: (tx: never, sql: string) => PromiseLike<unknown>;
}

function driver<Tx extends object>(
  store: PostgresStore<Tx>,
  send: (tx: Tx, sql: string) => PromiseLike<unknown>,
): Driver {
  return { store: store, send: send };
}

/** Neon's driver reaches PostgreSQL through a proxy that speaks WebSocket. */
async function startNeonProxy(): Promise<void> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  ends.push(() => server.close());
  server.on('connection', (webSocket) => {
    const socket = connect(shop.server.port, '127.0.0.1');
    webSocket.on('message', (data: Buffer) => socket.write(data));
    webSocket.on('close', () => socket.destroy());
    socket.on('data', (data) => webSocket.send(data));
    socket.on('close', () => webSocket.close());
  });
  Object.assign(neonConfig, {
    webSocketConstructor: WebSocket,
    wsProxy: `127.0.0.1:${(server.address() as AddressInfo).port}/`,
    useSecureWebSocket: false,
    pipelineConnect: false,
  });
}

type Work<Tx> = (tx: Tx) => Promise<void>;

const DRIVERS: readonly (readonly [name: string, open: () => Driver | Promise<Driver>])[] = [
  [
    "Neon's Pool",
    async () => {
      await startNeonProxy();
      const pool = new NeonPool({ connectionString: shop.server.url });
      ends.push(() => pool.end());
      pool.on('error', () => undefined);
      const store = postgresStore(pool);
      return driver(store, (tx, text) => tx.query(text));
    },
  ],
  [
    'Drizzle',
    () => {
      const db = drizzle({ client: shop.pool() });
      const store = postgresStore(db, { logger });
      return driver(store, (tx, text) => tx.execute(drizzleSql.raw(text)));
    },
  ],
  [
    'Drizzle over the store',
    () => {
      const pool = shop.pool();
      const store = postgresStore(pool, { tx: (client) => drizzle({ client }), logger });
      return driver(store, (tx, text) => tx.execute(drizzleSql.raw(text)));
    },
  ],
  [
    'Kysely',
    () => {
      const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: shop.pool() }) });
      const store = postgresStore({
        transaction: (work: Work<Transaction<object>>) => db.transaction().execute(work),
        query: async (tx, text) => (await kyselySql.raw(text).execute(tx ?? db)).rows,
      });
      return driver(store, (tx, text) => kyselySql.raw(text).execute(tx));
    },
  ],
  [
    'postgres.js',
    () => {
      const sql = postgres(shop.server.url, { onnotice: () => undefined });
      ends.push(() => sql.end());
      const store = postgresStore({
        transaction: (work: Work<postgres.TransactionSql>) => sql.begin(work),
        query: (tx, text) => (tx ?? sql).unsafe(text),
      });
      return driver(store, (tx, text) => tx.unsafe(text).simple());
    },
  ],
  [
    'Knex',
    () => {
      const knex = Knex({ client: 'pg', connection: shop.server.url });
      ends.push(() => knex.destroy());
      const store = postgresStore({
        transaction: (work: Work<Knex.Knex.Transaction>) => knex.transaction(work),
        query: async (tx, text) => (await (tx ?? knex).raw<{ rows: object[] }>(text)).rows,
      });
      return driver(store, (tx, text) => tx.raw(text));
    },
  ],
  [
    'TypeORM',
    async () => {
      const dataSource = new DataSource({ type: 'postgres', url: shop.server.url });
      await dataSource.initialize();
      ends.push(() => dataSource.destroy());
      const store = postgresStore({
        transaction: (work: Work<EntityManager>) => dataSource.transaction(work),
        query: (tx, text) => (tx ?? dataSource).query<object[]>(text),
      });
      return driver(store, (tx, text) => tx.query(text));
    },
  ],
  [
    'Sequelize',
    () => {
      const sequelize = new Sequelize(shop.server.url, { logging: false });
      ends.push(() => sequelize.close());
      const store = postgresStore({
        transaction: (work: Work<SequelizeTransaction>) => sequelize.transaction(work),
        query: async (transaction, text) =>
          (await sequelize.query(text, { transaction: transaction ?? null }))[0],
      });
      return driver(store, (transaction, text) => sequelize.query(text, { transaction }));
    },
  ],
  [
    'pg-promise',
    () => {
      const db = pgPromise({ noWarnings: true })(shop.server.url);
      ends.push(() => db.$pool.end());
      const store = postgresStore({
        transaction: (work: Work<pgPromise.ITask<object>>) => db.tx(work),
        query: (tx, text) => (tx ?? db).any(text),
      });
      return driver(store, (tx, text) => tx.multi(text));
    },
  ],
];

describe.each(DRIVERS)('%s', (_, open) => {
  let opened: Driver;
  beforeAll(async () => {
    opened = await open();
    await opened.store.migrate();
  });

  const set = (reference: string): string =>
    `UPDATE orders SET credited = credited + 1 WHERE reference = '${reference}'`;

  it('credits once, even if a delivery comes often and at once', async () => {
    const reference = await shop.order();
    const deliver = receiverOn(opened.store, async (tx, order) => {
      await opened.send(tx as never, set(order));
      return 1;
    });
    const statuses = await Promise.all(Array.from({ length: 10 }, () => deliver(reference)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('rolls back a credit that changed no row or throws, and rethrows the same error', async () => {
    const { store, send } = opened;
    const reference = await shop.order();
    const deliver = receiverOn(store, async (tx, order) => {
      await send(tx as never, set(order));
      return 0;
    });
    expect(await deliver(reference)).toBe(503);
    const error = new Error('no stock');
    const work = async (tx: object): Promise<never> => {
      await send(tx as never, set(reference));
      throw error;
    };
    const run = store.run(keyOf(reference), work, runOf(reference));
    expect(await run.catch((thrown: unknown) => thrown)).toBe(error);
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await store.isDone(keyOf(reference))).toBe(false);
  });

  it('refuses a credit that ends the transaction, and credits once in all', async () => {
    const { store, send } = opened;
    const reference = await shop.order();
    const deliver = receiverOn(store, async (tx, order) => {
      await send(tx as never, set(order));
      await send(tx as never, 'COMMIT; BEGIN');
      return 1;
    });
    expect(await deliver(reference)).toBe(503);
    expect(await store.isDone(keyOf(reference))).toBe(false);
    const again = shop.receiver(shop.pool(), creditOnce);
    await vi.waitFor(async () => expect(await again(reference)).toBe(200), 10_000);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('rejects a credit that swallowed an SQL error', async () => {
    const { store, send } = opened;
    const reference = await shop.order();
    const deliver = receiverOn(store, async (tx, order) => {
      await send(tx as never, set(order));
      await Promise.resolve(send(tx as never, 'SELECT 1 / 0')).catch(() => undefined);
      return 1;
    });
    expect(await deliver(reference)).toBe(503);
    expect(await shop.creditsOf(reference)).toBe(0);
  });

  it('cancels the statement of a credit after its time limit, and credits nothing', async () => {
    const { store, send } = opened;
    const reference = await shop.order();
    const controller = new AbortController();
    const ended = latch();
    const work = async (tx: object): Promise<void> => {
      await send(tx as never, set(reference));
      setTimeout(() => controller.abort(new Error('over')), 100);
      await Promise.resolve(send(tx as never, 'SELECT pg_sleep(60)')).finally(ended.open);
    };
    const run = store.run(keyOf(reference), work, runOf(reference, controller.signal));
    await expect(run).rejects.toThrow('over');
    await ended.opened;
    const again = shop.receiver(shop.pool());
    await vi.waitFor(async () => expect(await again(reference)).toBe(200), 10_000);
    expect(await shop.creditsOf(reference)).toBe(1);
  });
});

it('rolls back a statement that aborted work sends seconds later, and credits once in all', async () => {
  const store = postgresStore(drizzle({ client: shop.pool() }), { logger });
  const reference = await shop.order();
  const set = drizzleSql.raw(
    `UPDATE orders SET credited = credited + 1 WHERE reference = '${reference}'`,
  );
  const controller = new AbortController();
  const work = async (tx: { execute(query: typeof set): PromiseLike<unknown> }): Promise<void> => {
    controller.abort(new Error('over'));
    // Longer than any time for which the store could have waited for the work.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await Promise.resolve(tx.execute(set)).finally(written.open);
  };
  const written = latch();
  const run = store.run(keyOf(reference), work, runOf(reference, controller.signal));
  await expect(run).rejects.toThrow('over');
  await written.opened;
  const again = shop.receiver(shop.pool(), creditOnce);
  await vi.waitFor(async () => expect(await again(reference)).toBe(200), 10_000);
  expect(await shop.creditsOf(reference)).toBe(1);
});

/** Code without its types, spaces and line breaks. */
function bare(code: string): string {
  return code
    .replace(/work: Work<.*>\)/g, 'work)')
    .replace(/<(\{ rows: object\[\] \}|object\[\])>/g, '')
    .replaceAll('kyselySql', 'sql')
    .replace(/\s/g, '')
    .replaceAll(',}', '}');
}

it('runs the exact lines of the README', async () => {
  const [readme, source] = await Promise.all(
    ['../README.md', './drivers.test.ts'].map((path) =>
      readFile(new URL(path, import.meta.url), 'utf8'),
    ),
  );
  for (const [name] of DRIVERS) {
    const line = readme!.split('\n').find((row) => row.startsWith(`| ${name} |`));
    const [code] = /(?<=`).*(?=`)/.exec(line ?? '') ?? [];
    const inner = bare(code ?? 'missing').replace(/\}$/, '');
    expect(bare(source!)).toContain(inner);
  }
});
