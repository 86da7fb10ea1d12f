import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { paymentWebhook } from '@paylink/express';
import { createPayments, memoryOrders } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { Queue, Worker, type QueueOptions, type WorkerOptions } from 'bullmq';
import express from 'express';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  DURABLE,
  startRedis,
  withoutRedis,
  type RedisServer,
} from '../../../test/servers/redis.js';
import type { EnqueueOptions, JobQueue } from '../src/enqueue.js';
import { createProcessor, enqueue } from '../src/index.js';

const quiet = { warn: () => undefined, error: () => undefined };
const PATIENCE = { timeout: 15_000, interval: 20 };

const EVENT = { type: 'payment.succeeded', reference: 'order-1', tenant: null };
const context = { signal: new AbortController().signal };

/** A shop whose service says that every order of 1,000 XOF is paid. */
function openShop(references: readonly string[]) {
  const { orders, add } = memoryOrders();
  for (const reference of references) add({ reference, amount: 1_000, currency: 'XOF' });
  const credit = vi.fn(orders.credit);
  const getPayment = (reference: string) =>
    Promise.resolve({ reference, status: 'success', amount: 1_000, currency: 'XOF' });
  const client = { getPayment: vi.fn(getPayment) };
  const payments = createPayments({ client, orders: { ...orders, credit }, logger: quiet });
  return { payments, client, credit, unpaid: () => orders.unpaid({ tenant: null, ...context }) };
}

describe.skipIf(withoutRedis())('verified notifications as jobs', () => {
  let redis: RedisServer;
  let name: string;
  let count = 0;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    redis = await startRedis(DURABLE);
  });
  beforeEach(() => {
    name = `payments-${++count}`;
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await redis.close();
  });

  const connection = () => ({
    port: redis.port,
    host: '127.0.0.1',
    maxRetriesPerRequest: null,
    retryStrategy: () => 20,
  });

  function openQueue(options: Partial<QueueOptions> = {}): Queue {
    const queue = new Queue(name, { connection: connection(), ...options });
    queue.on('error', () => undefined);
    ends.push(() => queue.close());
    return queue;
  }

  function work(
    processor: ReturnType<typeof createProcessor>,
    options: Partial<WorkerOptions> = {},
  ): Worker {
    const worker = new Worker(name, processor, { connection: connection(), ...options });
    worker.on('error', () => undefined);
    ends.push(() => worker.close(true));
    return worker;
  }

  async function serve(queue: JobQueue, options?: EnqueueOptions): Promise<string> {
    const app = express();
    const receive = paymentWebhook({ secret: TEST_SECRET, logger: quiet }, enqueue(queue, options));
    app.post('/', receive);
    const server: Server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  async function deliver(url: string, reference: string): Promise<Response> {
    const { headers, body } = signedDelivery({ reference });
    return fetch(url, { method: 'POST', headers, body });
  }

  it('are acknowledged when Redis has the job, and credited by a worker', async () => {
    const url = await serve(openQueue());
    expect((await deliver(url, 'order-1')).status).toBe(200);
    const shop = openShop(['order-1']);
    work(createProcessor(shop.payments));
    await vi.waitFor(() => expect(shop.unpaid()).toEqual([]), PATIENCE);
  });

  it('H02: are credited once by three workers, however often they are delivered', async () => {
    const references = Array.from({ length: 20 }, (_, index) => `order-${index}`);
    const url = await serve(openQueue());
    const shop = openShop(references);
    for (let workers = 0; workers < 3; workers++) work(createProcessor(shop.payments));
    const repeated = [...references, ...references, ...references];
    const replies = await Promise.all(repeated.map((reference) => deliver(url, reference)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const queue = openQueue();
    await vi.waitFor(async () => expect(await queue.getCompletedCount()).toBe(60), PATIENCE);
    expect(shop.unpaid()).toEqual([]);
    expect(shop.credit).toHaveBeenCalledTimes(20);
  });

  it('try again after an error of the service', async () => {
    const shop = openShop(['order-1']);
    shop.client.getPayment.mockRejectedValueOnce(new Error('the service restarts'));
    const queue = openQueue({ defaultJobOptions: { backoff: 10 } });
    await enqueue(queue)(EVENT, context);
    work(createProcessor(shop.payments));
    await vi.waitFor(() => expect(shop.unpaid()).toEqual([]), PATIENCE);
  });

  it('stay in Redis as failed after the last attempt', async () => {
    const queue = openQueue();
    await enqueue(queue, { jobOptions: { attempts: 2, backoff: 1 } })(EVENT, context);
    work(createProcessor(openShop([]).payments));
    await vi.waitFor(async () => expect(await queue.getFailedCount()).toBe(1), PATIENCE);
    const [job] = await queue.getFailed();
    expect(job!.data).toEqual({ type: 'payment.succeeded', reference: 'order-1', tenant: null });
    expect(job!.failedReason).toBe('find() returned no order');
  });

  it('carry the tenant', async () => {
    const queue = openQueue();
    await enqueue(queue)({ ...EVENT, tenant: 'shop-2' }, context);
    const [job] = await queue.getJobs();
    expect(job!.data).toMatchObject({ tenant: 'shop-2' });
  });

  it('are 503 while Redis does not answer, and 200 afterwards', async () => {
    const url = await serve(openQueue(), { timeout: 200 });
    redis.freeze();
    const refused = await deliver(url, 'order-1').finally(() => redis.thaw());
    expect(refused.status).toBe(503);
    expect(await refused.json()).toEqual({ error: 'queue_unavailable' });
    expect((await deliver(url, 'order-1')).status).toBe(200);
  });

  it('G10: are credited although the first worker is killed in the middle', async () => {
    const queue = openQueue();
    await enqueue(queue)(EVENT, context);
    const script = fileURLToPath(new URL('killed-worker.ts', import.meta.url));
    const child: ChildProcess = fork(script, [name, `${redis.port}`], {
      execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
    });
    await once(child, 'message');
    child.kill('SIGKILL');
    const shop = openShop(['order-1']);
    work(createProcessor(shop.payments), { stalledInterval: 100, maxStalledCount: 20 });
    await vi.waitFor(() => expect(shop.unpaid()).toEqual([]), PATIENCE);
  });
});

const silentQueue: JobQueue = { add: () => Promise.resolve({ id: '1' }) };

describe('N09: enqueue', () => {
  it.each(['deduplication', 'debounce', 'jobId', 'removeOnFail', 'repeat'])(
    'refuses `%s` in jobOptions and in the defaults of the queue',
    (option) => {
      const value = { removeOnFail: true, repeat: { every: 500 } }[option] ?? { id: 'payments' };
      const given = { [option]: value };
      const refusal = `jobOptions.${option} must not be set`;
      expect(() => enqueue(silentQueue, { jobOptions: given })).toThrow(refusal);
      expect(() => enqueue({ ...silentQueue, defaultJobOptions: given })).toThrow(refusal);
    },
  );
});

describe('enqueue', () => {
  it('keeps a failed job, and tries for days by default', async () => {
    const add = vi.fn(silentQueue.add);
    await enqueue({ add })(EVENT, context);
    const options = { attempts: 20, removeOnFail: false };
    expect(add).toHaveBeenCalledWith('payment.succeeded', EVENT, expect.objectContaining(options));
  });

  it('lets the options of the queue, and then of the call, override its own', async () => {
    const add = vi.fn(silentQueue.add);
    const queue = { add, defaultJobOptions: { attempts: 3, priority: 7, removeOnFail: false } };
    await enqueue(queue, { jobOptions: { attempts: 4 } })(EVENT, context);
    expect(add.mock.calls[0]![2]).toMatchObject({ attempts: 4, priority: 7 });
  });

  it('keeps its attempts and pauses if these options are undefined', async () => {
    const add = vi.fn(silentQueue.add);
    const unset = { attempts: undefined, backoff: undefined } as object;
    await enqueue({ add, defaultJobOptions: unset }, { jobOptions: unset })(EVENT, context);
    const backoff = expect.objectContaining({ type: 'exponential' }) as unknown;
    expect(add.mock.calls[0]![2]).toMatchObject({ attempts: 20, backoff });
  });

  it.each([0, 1, NaN])(
    'refuses %s attempts, which lose a payment at the first error',
    (attempts) => {
      const given = { attempts };
      const refusal = 'jobOptions.attempts must be 2 or more';
      expect(() => enqueue(silentQueue, { jobOptions: given })).toThrow(refusal);
      expect(() => enqueue({ ...silentQueue, defaultJobOptions: given })).toThrow(refusal);
    },
  );

  it('refuses other kinds, which the worker could not credit', async () => {
    const refused = enqueue(silentQueue)({ ...EVENT, type: 'payment.refunded' }, context);
    await expect(refused).rejects.toMatchObject({ code: 'misconfigured' });
  });

  it('answers 503 if add gives no job, as without its `return`', async () => {
    const enqueued = enqueue({ add: async () => undefined })(EVENT, context);
    const message = 'queue.add() gave no job: look for a missing `return`';
    await expect(enqueued).rejects.toMatchObject({ status: 503, cause: { message } });
  });

  it('names a wrong option', () => {
    expect(() => enqueue({} as JobQueue)).toThrow('queue must be a Queue of BullMQ');
    expect(() => enqueue(silentQueue, { timout: 1 } as EnqueueOptions)).toThrow(/^timout/);
    expect(() => enqueue(silentQueue, { timeout: 0 })).toThrow(/^timeout/);
    expect(() => createProcessor({} as never)).toThrow(/^payments must be made by/);
  });
});

describe('createProcessor', () => {
  it('fails for a job that is no notification', async () => {
    const processor = createProcessor(openShop([]).payments);
    for (const data of [undefined, null, {}, { type: 'x' }, { ...EVENT, reference: 7 }]) {
      await expect(processor({ data })).rejects.toMatchObject({ code: 'misconfigured' });
    }
  });
});
