import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ConfigurationError, createReceiver, memoryStore, WebhookError, type IdempotencyStore, type NoEvents } from '@paylink/core';
import { identify } from '@paylink/core/idempotency';
import { paymentWebhook } from '@paylink/express';
import { redisStore } from '@paylink/redis';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { Queue, Worker, type DefaultJobOptions, type QueueOptions, type WorkerOptions } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DURABLE, startRedis, withoutRedis, type RedisServer } from '../../../test/engines/redis.js';
import { createProcessor, enqueue, type EnqueueOptions, type JobQueue, type PaymentProcessor } from '../src/index.js';

const quiet = { warn: () => undefined, error: () => undefined };
const PATIENCE = { timeout: 15_000, interval: 20 };
const idOf = (reference: string): string => createHash('sha256').update(`payment.succeeded:${reference}`).digest('hex');

describe.skipIf(withoutRedis())('verified events as jobs', () => {
  let redis: RedisServer;
  let direct: Redis;
  let name: string;
  let count = 0;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    redis = await startRedis(DURABLE);
    direct = new Redis(redis.port, { retryStrategy: () => 20 });
    direct.on('error', () => undefined);
  });
  beforeEach(() => {
    name = `payments-${++count}`;
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    direct.disconnect();
    await redis.close();
  });

  const connection = () => ({ port: redis.port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 20 });

  function openQueue(options: Partial<QueueOptions> = {}): Queue {
    const queue = new Queue(name, { connection: connection(), ...options });
    queue.on('error', () => undefined);
    ends.push(() => queue.close());
    return queue;
  }

  async function serve(queue: JobQueue, options?: EnqueueOptions): Promise<string> {
    const app = express();
    app.post('/', paymentWebhook({ secret: TEST_SECRET, logger: quiet }, { 'payment.succeeded': enqueue(queue, options) }));
    const server: Server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  function work(processor: PaymentProcessor, options: Partial<WorkerOptions> = {}): Worker {
    const worker = new Worker(name, processor, { connection: connection(), ...options });
    worker.on('error', () => undefined);
    ends.push(() => worker.close(true));
    return worker;
  }

  const send = async (url: string, reference: string, payload: Record<string, unknown> = {}): Promise<[number, unknown]> => {
    const response = await signedDelivery({ secret: TEST_SECRET, reference, payload }).send(url);
    return [response.status, await response.json()];
  };

  it('runs the same handlers in the worker, on the event that was verified, and credits once', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    const handler = vi.fn();
    work(createProcessor({ idempotency: redisStore(direct) }, { 'payment.succeeded': handler }));
    for (let time = 0; time < 3; time++) {
      await vi.waitFor(async () => expect((await send(url, 'order-é'))[0]).toBe(200), PATIENCE);
    }
    await vi.waitUntil(async () => (await queue.getJobCounts('wait', 'active', 'delayed'))['wait'] === 0, PATIENCE);
    await vi.waitUntil(async () => (await queue.getJobState(idOf('order-é'))) === 'completed', PATIENCE);
    expect(handler).toHaveBeenCalledOnce();
    expect(handler.mock.calls[0]).toMatchObject([
      { type: 'payment.succeeded', reference: 'order-é', payload: { reference: 'order-é' }, secretIndex: 0 },
      { job: { id: idOf('order-é'), name: 'payment.succeeded' } },
    ]);
    expect((await queue.getJob(idOf('order-é')))?.returnvalue).toEqual({
      outcome: expect.stringMatching(/^(handled|duplicate)$/) as string,
    });
  }, 20_000);

  it('gives the job the key that the store gets, and keeps neither secret nor signature', async () => {
    const queue = openQueue();
    await send(await serve(queue), 'order-1');
    const [job] = await queue.getJobs();
    const keys: string[] = [];
    const spy: IdempotencyStore = {
      isDone: () => Promise.resolve(false),
      run: (key) => Promise.resolve(keys.push(key) > 0 ? 'duplicate' : 'done'),
    };
    await createProcessor({ idempotency: spy }, () => undefined)(job!);
    expect(keys).toEqual([job!.id]);
    const { headers } = signedDelivery({ secret: TEST_SECRET, reference: 'order-1' });
    const stored = JSON.stringify(job!.asJSON());
    for (const secret of [
      TEST_SECRET,
      ...Object.entries(headers).flatMap(([header, value]) => (/signature/i.test(header) ? [value] : [])),
    ]) {
      expect(stored).not.toContain(secret);
    }
  });

  it('makes one job of 20 deliveries at once (H02)', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(url, 'order-1')));
    expect(new Set(replies.map(([status]) => status))).toEqual(new Set([200]));
    expect(await queue.getWaitingCount()).toBe(1);
  });

  it('answers 503 while a worker handles the event: it may have asked the service before this delivery was sent', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    let finish: (() => void) | undefined;
    work(createProcessor({ idempotency: memoryStore() }, () => new Promise<void>((resolve) => (finish = resolve))));
    await send(url, 'order-1');
    await vi.waitUntil(() => finish !== undefined, PATIENCE);
    expect(await send(url, 'order-1')).toEqual([503, { error: 'in_progress' }]);
    finish!();
    await vi.waitFor(async () => expect(await send(url, 'order-1')).toEqual([200, { received: true }]), PATIENCE);
  }, 20_000);

  it('tries again what a handler threw, without being asked (G01)', async () => {
    const queue = openQueue({ defaultJobOptions: { backoff: { type: 'fixed', delay: 1 } } });
    const handler = vi.fn().mockRejectedValueOnce(new Error('the database is away'));
    work(createProcessor({ idempotency: redisStore(direct, { prefix: `${name}:` }) }, handler));
    await send(await serve(queue), 'order-1');
    await vi.waitUntil(async () => (await queue.getJobState(idOf('order-1'))) === 'completed', PATIENCE);
    expect(handler).toHaveBeenCalledTimes(2);
    expect((await queue.getJob(idOf('order-1')))?.opts.attempts).toBe(20);
  }, 20_000);

  it('runs a job again that had failed for good when the service retries, with all its attempts', async () => {
    const queue = openQueue({ defaultJobOptions: { attempts: 2, backoff: 0 } });
    const url = await serve(queue);
    const handler = vi.fn(() => Promise.reject<undefined>(new WebhookError('unknown_order', { status: 503 })));
    work(createProcessor({ idempotency: redisStore(direct, { prefix: `${name}:` }) }, handler));
    const isDead = async (): Promise<boolean> => (await queue.getJobState(idOf('order-1'))) === 'failed';
    await send(url, 'order-1');
    await vi.waitUntil(isDead, PATIENCE);
    expect(handler).toHaveBeenCalledTimes(2);

    expect((await send(url, 'order-1'))[0]).toBe(200);
    await vi.waitUntil(async () => handler.mock.calls.length === 4 && (await isDead()), PATIENCE);

    handler.mockImplementation(() => Promise.resolve(undefined));
    expect((await send(url, 'order-1'))[0]).toBe(200);
    await vi.waitUntil(async () => (await queue.getJobState(idOf('order-1'))) === 'completed', PATIENCE);
    expect(handler).toHaveBeenCalledTimes(5);
  }, 30_000);

  it('keeps a job that has failed for good, also where queue and worker remove failed jobs', async () => {
    const queue = openQueue({ defaultJobOptions: { attempts: 1, removeOnFail: true } });
    work(
      createProcessor({ logger: quiet }, () => Promise.reject(new Error('no'))),
      { removeOnFail: { count: 0 } },
    );
    await send(await serve(queue), 'order-1');
    await vi.waitUntil(async () => (await queue.getJobState(idOf('order-1'))) === 'failed', PATIENCE);
  }, 20_000);

  it('credits a payment that had failed and then succeeds, though the job of the first notification is complete (H07)', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    let status = 'failed';
    const handler = vi.fn();
    const confirm = { getPayment: (reference: string) => Promise.resolve({ reference, status }) };
    work(createProcessor({ idempotency: redisStore(direct, { prefix: `${name}:` }), confirm, logger: quiet }, handler));
    await send(url, 'order-1');
    await vi.waitFor(
      async () => expect((await queue.getJob(idOf('order-1')))?.returnvalue).toEqual({ outcome: 'ignored' }),
      PATIENCE,
    );
    expect(handler).not.toHaveBeenCalled();
    status = 'success';
    // The second notification has other bytes: the job runs on those.
    await vi.waitFor(async () => expect((await send(url, 'order-1', { attempt: 2 }))[0]).toBe(200), PATIENCE);
    await vi.waitUntil(() => handler.mock.calls.length > 0, PATIENCE);
    expect(handler.mock.calls[0]).toMatchObject([{ payload: { attempt: 2 } }, { payment: { status: 'success' } }]);
  }, 20_000);

  it('fails the job when the handler takes too long, and BullMQ tries again (G03)', async () => {
    const queue = openQueue({ defaultJobOptions: { backoff: 0 } });
    const aborted = vi.fn();
    let calls = 0;
    const processor = createProcessor({ handlerTimeout: 50, logger: quiet }, (_, { signal }) => {
      if (++calls > 1) return undefined;
      signal.addEventListener('abort', aborted);
      return new Promise(() => undefined);
    });
    work(processor);
    await send(await serve(queue), 'order-1');
    await vi.waitUntil(async () => (await queue.getJobState(idOf('order-1'))) === 'completed', PATIENCE);
    expect(aborted).toHaveBeenCalledOnce();
    expect(calls).toBe(2);
  }, 20_000);

  it('credits once after a kill -9 of the worker in the middle of its handler (I03, I09)', async () => {
    const queue = openQueue({ defaultJobOptions: { backoff: { type: 'fixed', delay: 200 } } });
    const child = fork(fileURLToPath(new URL('./worker-process.ts', import.meta.url)), [`${redis.port}`, name], {
      execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
    });
    ends.push(() => child.kill('SIGKILL'));
    const working = once(child, 'message');
    await send(await serve(queue), 'order-1');
    await working;
    child.kill('SIGKILL');
    await once(child, 'exit');

    const credit = vi.fn();
    const store = redisStore(direct, { leaseMs: 2_000 });
    work(createProcessor({ idempotency: store, logger: quiet }, credit), { stalledInterval: 300, lockDuration: 5_000 });
    await vi.waitUntil(async () => (await queue.getJobState(idOf('order-1'))) === 'completed', { timeout: 25_000, interval: 50 });
    expect(credit).toHaveBeenCalledOnce();
    expect(await store.isDone(idOf('order-1'))).toBe(true);
  }, 40_000);

  it('keeps the job over a kill -9 of a Redis with an append-only file that is written before each reply', async () => {
    const queue = openQueue();
    expect((await send(await serve(queue), 'order-1'))[0]).toBe(200);
    await redis.kill();
    await redis.start();
    await vi.waitFor(async () => expect(await queue.getJobState(idOf('order-1'))).toBe('waiting'), PATIENCE);
  }, 30_000);

  it.each(['hangs', 'is down'])(
    'answers 503 in time while Redis %s, and never 200 (I01)',
    async (trouble) => {
      const queue = openQueue();
      const url = await serve(queue, { timeout: 300 });
      await queue.waitUntilReady();
      if (trouble === 'hangs') redis.freeze();
      else await redis.kill();
      try {
        expect(await send(url, 'order-1')).toEqual([503, { error: 'store_unavailable' }]);
      } finally {
        if (trouble === 'hangs') redis.thaw();
        else await redis.start();
      }
      await vi.waitFor(async () => expect(await send(url, 'order-1')).toEqual([200, { received: true }]), PATIENCE);
      expect(await queue.getJobState(idOf('order-1'))).toBe('waiting');
    },
    30_000,
  );

  it('stops at the signal of the receiver (I01)', async () => {
    const queue = openQueue();
    const put = enqueue(queue, { timeout: 60_000 });
    await queue.waitUntilReady();
    redis.freeze();
    try {
      const event = { type: 'payment.succeeded', reference: 'order-1', rawBody: Buffer.from('{}'), secretIndex: 0 };
      const refused = expect(put(event, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
        code: 'store_unavailable',
        status: 503,
      });
      await refused;
    } finally {
      redis.thaw();
    }
  }, 20_000);

  it('names what is wrong at set-up, and what is wrong with a job', async () => {
    const queue = openQueue();
    for (const [option, make] of [
      ['queue', () => enqueue(undefined as never)],
      ['queue', () => enqueue('payments' as never)],
      ['key', () => enqueue(queue, { key: 'reference' as never })],
      ['timeout', () => enqueue(queue, { timeout: 0 })],
      ['timeOut', () => enqueue(queue, { timeOut: 100 } as never)],
      ['jobOptions.removeOnFail', () => enqueue(queue, { jobOptions: { removeOnFail: true } as never })],
      ['jobOptions.jobId', () => enqueue(queue, { jobOptions: { jobId: 'mine' } as never })],
      ['jobOptions.deduplication', () => enqueue(queue, { jobOptions: { deduplication: { id: 'one' } } as never })],
      ['jobOptions.debounce', () => enqueue(queue, { jobOptions: { debounce: { id: 'one', ttl: 1 } } as never })],
      ['secret', () => createProcessor({ secret: TEST_SECRET } as never, () => undefined)],
    ] as const) {
      expect(make).toThrow(ConfigurationError);
      expect(make).toThrow(expect.objectContaining({ option }) as Error);
    }
    const job = { kind: 'payment.succeeded', rawBody: '', secretIndex: 0 };
    for (const data of [undefined, null, 'text', {}, { ...job, rawBody: 7 }, { ...job, tenant: '' }, { ...job, tenant: 7 }]) {
      await expect(createProcessor({}, () => undefined)({ data })).rejects.toThrow('the job was not made by enqueue()');
    }
  });

  it.each(['', undefined, 7, 'order \ud800'])(
    'makes no job of an event whose key is %j, since another payment would be the same job',
    async (identity) => {
      const queue = openQueue();
      const handler = enqueue(queue, { key: () => identity as string });
      const event = { type: 'payment.succeeded', reference: 'order-1', rawBody: Buffer.from('{}'), secretIndex: 0 } as const;
      await expect(handler(event, new AbortController())).rejects.toThrow('key must give a string that is not empty');
      expect(await queue.getWaitingCount()).toBe(0);
    },
  );

  it('refuses a queue whose default options drop jobs of other payments (N09)', () => {
    const queue = openQueue({ defaultJobOptions: { deduplication: { id: 'payments' } } as DefaultJobOptions });
    expect(() => enqueue(queue)).toThrow(expect.objectContaining({ option: 'jobOptions.deduplication' }) as Error);
  });

  it('acknowledges no payment whose job BullMQ has dropped for another one (N09)', async () => {
    const queue = openQueue({ defaultJobOptions: { deduplication: { id: 'payments' } } as DefaultJobOptions });
    // As a queue of the merchant's own that adds its options later.
    const hiding: JobQueue = {
      add: (jobName, data, options) => queue.add(jobName, data, options),
      getJob: (id) => queue.getJob(id) as ReturnType<JobQueue['getJob']>,
    };
    const url = await serve(hiding);
    expect((await send(url, 'order-1'))[0]).toBe(200);
    expect(await send(url, 'order-2')).toEqual([503, { error: 'store_unavailable' }]);
    expect(await send(url, 'order-3')).toEqual([503, { error: 'store_unavailable' }]);
    expect(await queue.getWaitingCount()).toBe(1);
  });

  it('refuses a store around it, whose mark would say done before the worker has credited (N09)', () => {
    for (const options of [{}, { key: ({ reference }: { reference: string }) => reference }])
      expect(() => createReceiver({ secret: TEST_SECRET, idempotency: memoryStore() }, enqueue(openQueue(), options))).toThrow(
        /^idempotency must not be given to a handler that only queues/,
      );
  });

  it('asks at set-up whose jobs these are where the secret is a function (N03)', () => {
    const secret = () => 'the-webhook-secret-of-acme';
    expect(() => createReceiver({ secret }, enqueue(openQueue()))).toThrow(/^tenant is missing/);
    expect(() => createReceiver({ secret }, { 'payment.succeeded': enqueue(openQueue()) })).toThrow(/^tenant is missing/);
    expect(() => createReceiver({ secret }, enqueue(openQueue(), { key: ({ reference }) => reference }))).not.toThrow();
  });

  it('credits one order number of two tenants once each, by jobs of their own (N03)', async () => {
    const queue = openQueue();
    const secretOf = (tenant: string): string => `the-webhook-secret-of-${tenant}`;
    const receiver = createReceiver<NoEvents, never, never, { tenant: string }>(
      { secret: ({ tenant }) => secretOf(tenant), tenant: ({ tenant }) => tenant, logger: quiet },
      enqueue(queue),
    );
    const deliver = async (tenant: string): Promise<number> => {
      const { headers, rawBody } = signedDelivery({ secret: secretOf(tenant), reference: 'order-1' });
      const delivery = { method: 'POST', header: (name: string) => headers[name], body: () => Promise.resolve(rawBody) };
      return (await receiver.receive(delivery, { tenant })).status;
    };
    for (const tenant of ['acme', 'bolt', 'acme']) expect(await deliver(tenant)).toBe(200);
    const keys = ['acme', 'bolt'].map((tenant) => identify({ tenant, kind: 'payment.succeeded', reference: 'order-1' }));
    const ids = (await Promise.all(keys)).map(({ key }) => key);
    expect((await queue.getJobs()).map(({ id }) => id).sort()).toEqual([...ids].sort());

    const credits: unknown[] = [];
    const asked: unknown[] = [];
    const confirm = {
      getPayment: async (reference: string, { tenant }: { readonly tenant?: string | undefined }) => {
        asked.push(tenant);
        return { reference, status: 'success' };
      },
    };
    const idempotency = redisStore(direct, { prefix: `${name}:` });
    work(
      createProcessor({ idempotency, confirm, logger: quiet }, ({ reference }, { tenant }) => credits.push([tenant, reference])),
    );
    await vi.waitUntil(async () => (await queue.getCompletedCount()) === 2, PATIENCE);
    expect(credits.sort()).toEqual([
      ['acme', 'order-1'],
      ['bolt', 'order-1'],
    ]);
    expect(asked.sort()).toEqual(['acme', 'bolt']);
    for (const id of ids) expect(await idempotency.isDone(id)).toBe(true);
  }, 20_000);

  it('fails a job of a kind that the worker has no handler for, and puts an unrecognized one under its own kind', async () => {
    const queue = openQueue();
    const put = enqueue(queue);
    const rawBody = Buffer.from('{"reference":"order-1"}');
    await put(
      { type: 'unrecognized', kind: 'payment.refunded', reference: 'order-1', rawBody, secretIndex: 0 },
      { signal: new AbortController().signal },
    );
    const [job] = await queue.getJobs();
    expect(job).toMatchObject({ name: 'payment.refunded', data: { kind: 'payment.refunded' } });
    await expect(createProcessor({ logger: quiet }, () => undefined)(job!)).rejects.toMatchObject({ code: 'misconfigured' });
    const handlers = { 'payment.succeeded': () => undefined, unrecognized: vi.fn() };
    await createProcessor({}, handlers)(job!);
    expect(handlers.unrecognized).toHaveBeenCalledOnce();
  });
});
