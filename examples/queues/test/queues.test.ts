import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { postgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { Express } from 'express';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import {
  DURABLE,
  startRedis,
  withoutRedis,
  type RedisServer,
} from '../../../test/servers/redis.js';
import * as onBullmq from '../src/bullmq.js';
import { createOrders } from '../src/orders.js';
import * as onPgBoss from '../src/pg-boss.js';
import { AMOUNT, paid } from './paid.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
const noRedis = withoutRedis();

let postgres: PostgresServer;
let pool: Pool;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  pool = new Pool({ connectionString: postgres.url });
  pool.on('error', () => undefined);
  await postgresStore(pool).migrate();
  await createOrders(pool);
}, 60_000);

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

afterAll(async () => {
  await pool.end();
  await postgres.close();
});

async function serve(app: Express): Promise<string> {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
}

const send = async (url: string, reference: string, secret = TEST_SECRET): Promise<number> =>
  (await signedDelivery({ secret, reference }).send(url)).status;

async function insertOrders(...references: string[]): Promise<void> {
  await pool.query('INSERT INTO orders (reference, amount) SELECT unnest($1::text[]), $2', [
    references,
    AMOUNT,
  ]);
}

async function creditsOf(reference: string): Promise<number> {
  const { rows } = await pool.query<{ credits: number }>(
    'SELECT credits FROM orders WHERE reference = $1',
    [reference],
  );
  return rows[0]!.credits;
}

/** Starts a worker in its own process, and kills it during its first job. */
async function killWorkerAtWork(
  queue: string,
  redisPort: number,
  deliver: () => Promise<unknown>,
): Promise<void> {
  const child = fork(
    fileURLToPath(new URL('./worker-process.ts', import.meta.url)),
    [queue, postgres.url, `${redisPort}`],
    {
      execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
    },
  );
  ends.push(() => child.kill('SIGKILL'));
  const credited = once(child, 'message');
  await deliver();
  await credited;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe.skipIf(noRedis)('the example on BullMQ', () => {
  let redis: RedisServer;
  let url: string;
  let connection: { port: number; maxRetriesPerRequest: null };

  beforeAll(async () => {
    redis = await startRedis(DURABLE);
    connection = { port: redis.port, maxRetriesPerRequest: null };
  });
  beforeEach(async () => {
    const queue = onBullmq.createQueue(connection);
    ends.push(() => queue.close());
    url = await serve(onBullmq.createApp({ secret: TEST_SECRET, queue }));
  });
  afterAll(() => redis.close());

  const startWorker = (): void => {
    const worker = onBullmq.startWorker({
      connection,
      pool,
      client: paid,
      pace: { stalledInterval: 1_000 },
    });
    ends.push(() => worker.close());
  };

  it('credits a genuine delivery once, however often it comes, and a forged one never', async () => {
    await insertOrders('bullmq-1', 'bullmq-forged', 'bullmq-last');
    expect(await Promise.all(Array.from({ length: 10 }, () => send(url, 'bullmq-1')))).toEqual(
      Array(10).fill(200),
    );
    expect(await send(url, 'bullmq-forged', 'a-secret-of-nobody')).toBe(401);
    startWorker();
    await vi.waitUntil(async () => (await creditsOf('bullmq-1')) > 0, PATIENCE);
    await vi.waitUntil(async () => (await send(url, 'bullmq-1')) === 200, PATIENCE);
    await send(url, 'bullmq-last');
    await vi.waitUntil(async () => (await creditsOf('bullmq-last')) > 0, PATIENCE);
    expect([await creditsOf('bullmq-1'), await creditsOf('bullmq-forged')]).toEqual([1, 0]);
  }, 90_000);

  it('credits once after a kill -9 of the worker between the credit and the commit', async () => {
    await insertOrders('bullmq-2');
    await killWorkerAtWork('BullMQ', redis.port, () => send(url, 'bullmq-2'));
    expect(await creditsOf('bullmq-2')).toBe(0);
    startWorker();
    await vi.waitUntil(async () => (await creditsOf('bullmq-2')) > 0, PATIENCE);
    await vi.waitUntil(async () => (await send(url, 'bullmq-2')) === 200, PATIENCE);
    expect(await creditsOf('bullmq-2')).toBe(1);
  }, 120_000);
});

describe('the example on pg-boss', () => {
  let boss: PgBoss;
  let url: string;

  beforeAll(async () => {
    boss = new PgBoss({ connectionString: postgres.url, maintenanceIntervalSeconds: 1 });
    boss.on('error', () => undefined);
    await boss.start();
    await onPgBoss.createQueues(boss, 3);
  }, 60_000);
  beforeEach(async () => {
    url = await serve(onPgBoss.createApp({ secret: TEST_SECRET, boss }));
  });
  afterEach(() => boss.offWork('payments'));
  afterAll(() => boss.stop({ graceful: false }));

  const jobs = async (): Promise<number> =>
    (
      await pool.query<{ count: number }>(
        "SELECT count(*)::int FROM pgboss.job WHERE name = 'payments'",
      )
    ).rows[0]!.count;

  it('credits a genuine delivery once, however often it comes, and a forged one never', async () => {
    await insertOrders('boss-1', 'boss-forged', 'boss-last');
    const ten = Array.from({ length: 10 }, () => send(url, 'boss-1'));
    expect(await Promise.all(ten)).toEqual(Array(10).fill(200));
    expect(await send(url, 'boss-forged', 'a-secret-of-nobody')).toBe(401);
    expect(await jobs()).toBe(10);
    await onPgBoss.startWorker({ boss, pool, client: paid });
    await vi.waitUntil(async () => (await creditsOf('boss-1')) > 0, PATIENCE);
    expect(await send(url, 'boss-1')).toBe(200);
    await send(url, 'boss-last');
    await vi.waitUntil(async () => (await creditsOf('boss-last')) > 0, PATIENCE);
    expect([await creditsOf('boss-1'), await creditsOf('boss-forged')]).toEqual([1, 0]);
  }, 90_000);

  it('credits once after a kill -9 of the worker between the credit and the commit', async () => {
    await insertOrders('boss-2');
    await killWorkerAtWork('pg-boss', 0, () => send(url, 'boss-2'));
    expect(await creditsOf('boss-2')).toBe(0);
    // pg-boss gives the job to another worker after the job's time limit.
    await onPgBoss.startWorker({ boss, pool, client: paid });
    await vi.waitUntil(async () => (await creditsOf('boss-2')) > 0, PATIENCE);
    await send(url, 'boss-2');
    expect(await creditsOf('boss-2')).toBe(1);
  }, 90_000);

  it('answers no 2xx if the job could not be queued', async () => {
    await insertOrders('boss-3');
    const sent = vi.spyOn(boss, 'send').mockResolvedValueOnce(null);
    expect(await send(url, 'boss-3')).toBe(503);
    sent.mockRejectedValueOnce(new Error('the database is down'));
    expect(await send(url, 'boss-3')).toBe(503);
    sent.mockRestore();
    expect(await send(url, 'boss-3')).toBe(200);
    await onPgBoss.startWorker({ boss, pool, client: paid });
    await vi.waitUntil(async () => (await creditsOf('boss-3')) > 0, PATIENCE);
  }, 90_000);
});
