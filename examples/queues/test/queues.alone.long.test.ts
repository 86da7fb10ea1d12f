import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { Queue } from 'bullmq';
import type { Express } from 'express';
import PgBoss from 'pg-boss';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DURABLE, startRedis, withoutRedis } from '../../../test/servers/redis.js';
import * as onBullmq from '../src/bullmq.js';
import * as onPgBoss from '../src/pg-boss.js';
import { startShop } from './shop.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
const SCRIPT = fileURLToPath(new URL('killed-worker.ts', import.meta.url));

let shop: Awaited<ReturnType<typeof startShop>>;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  shop = await startShop();
});
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await shop.close();
});

async function serve(app: Express): Promise<string> {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
}

const send = async (url: string, reference: string, secret = TEST_SECRET): Promise<number> =>
  (await signedDelivery({ secret, reference }).send(url)).status;

/** Starts a worker in a process of its own, and kills it between the credit and the commit. */
async function killWorkerAtWork(...args: string[]): Promise<void> {
  const execArgv = ['--conditions=@paylink/source', '--import', 'tsx'];
  const child = fork(SCRIPT, [shop.url, ...args], { execArgv });
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

interface Example {
  readonly start: () => Promise<{
    readonly app: Express;
    readonly work: () => unknown;
    readonly args: readonly string[];
  }>;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  BullMQ: {
    async start() {
      const redis = await startRedis(DURABLE);
      const connection = { port: redis.port, maxRetriesPerRequest: null };
      const queue = new Queue('payments', { connection });
      ends.push(
        () => redis.close(),
        () => queue.close(),
      );
      const work = (): void => {
        const worker = onBullmq.startWorker(shop.payments, { connection, stalledInterval: 500 });
        ends.push(() => worker.close(true));
      };
      return { app: onBullmq.createApp(TEST_SECRET, queue), work, args: [`${redis.port}`] };
    },
  },
  'pg-boss': {
    async start() {
      const boss = new PgBoss({ connectionString: shop.url, maintenanceIntervalSeconds: 1 });
      boss.on('error', () => undefined);
      await boss.start();
      ends.push(() => boss.stop({ graceful: false }));
      await onPgBoss.createQueues(boss, 3);
      const work = () => onPgBoss.startWorker(shop.payments, boss);
      return { app: onPgBoss.createApp(TEST_SECRET, boss), work, args: [] };
    },
  },
};

describe.each(Object.keys(EXAMPLES))('the example on %s', (name) => {
  it.skipIf(name === 'BullMQ' && withoutRedis())(
    'credits once after a kill -9 of the worker, however often the delivery comes',
    { timeout: 150_000 },
    async () => {
      const { app, work, args } = await EXAMPLES[name]!.start();
      const url = await serve(app);
      await shop.add(`${name}-1`, `${name}-forged`);
      expect(await send(url, `${name}-forged`, 'a-secret-of-nobody')).toBe(401);
      const ten = Array.from({ length: 10 }, () => send(url, `${name}-1`));
      expect(new Set(await Promise.all(ten))).toEqual(new Set([200]));
      await killWorkerAtWork(...args);
      expect(await shop.creditsOf(`${name}-1`)).toBe(0);
      await work();
      await vi.waitUntil(async () => (await shop.creditsOf(`${name}-1`)) === 1, PATIENCE);
      expect(await send(url, `${name}-1`)).toBe(200);
      expect(await shop.creditsOf(`${name}-1`)).toBe(1);
      expect(await shop.creditsOf(`${name}-forged`)).toBe(0);
    },
  );
});

it('pg-boss answers no 2xx if the job could not be queued', async () => {
  const boss = { send: vi.fn(() => Promise.resolve(null)) };
  const url = await serve(onPgBoss.createApp(TEST_SECRET, boss as unknown as PgBoss));
  expect(await send(url, 'order-1')).toBe(503);
  boss.send.mockRejectedValue(new Error('the database is down'));
  expect(await send(url, 'order-1')).toBe(503);
});

// BullMQ itself would drop a job with the id or the deduplication key of another.
it.skipIf(withoutRedis())('BullMQ keeps a job for each notification', { tags: 'N09' }, async () => {
  const redis = await startRedis(DURABLE);
  const queue = new Queue('payments', { connection: { port: redis.port } });
  ends.push(
    () => redis.close(),
    () => queue.close(),
  );
  const url = await serve(onBullmq.createApp(TEST_SECRET, queue));
  expect([await send(url, 'order-1'), await send(url, 'order-1')]).toEqual([200, 200]);
  expect((await queue.getJobCounts('waiting'))['waiting']).toBe(2);
});

it('BullMQ answers no 2xx if Redis stores no job', { tags: 'N09' }, async () => {
  const queue = { add: vi.fn(() => Promise.reject(new Error('Redis is down'))) };
  const url = await serve(onBullmq.createApp(TEST_SECRET, queue as unknown as Queue));
  expect(await send(url, 'order-1')).toBe(503);
  queue.add.mockReturnValue(new Promise(() => undefined));
  expect(await send(url, 'order-1')).toBe(503);
});
