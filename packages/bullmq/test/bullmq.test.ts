import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ConfigurationError, createReceiver, WebhookError, type NoEvents } from '@paylink/core';
import { paymentWebhook } from '@paylink/express';
import {
  createPayments,
  identify,
  memoryStore,
  type AnyEvent,
  type CreditResult,
} from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import {
  Queue,
  Worker,
  type DefaultJobOptions,
  type QueueOptions,
  type WorkerOptions,
} from 'bullmq';
import express from 'express';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  DURABLE,
  startRedis,
  withoutRedis,
  type RedisServer,
} from '../../../test/servers/redis.js';
import type { JobQueue } from '../src/enqueue.js';
import { createProcessor, enqueue, type EnqueueOptions } from '../src/index.js';

const quiet = { warn: () => undefined, error: () => undefined };
const PATIENCE = { timeout: 15_000, interval: 20 };
/** Payments of a service that knows every order as paid. */
function paymentsWith(credit: (...given: unknown[]) => unknown, more: object = {}) {
  const client = {
    getPayment: (reference: string) => Promise.resolve({ reference, status: 'success' }),
  };
  const options = {
    client,
    store: memoryStore(),
    credit: credit as () => CreditResult,
    logger: quiet,
  };
  return createPayments({ ...options, ...more });
}

const eventOf = (reference: string, more: object = {}): AnyEvent => {
  const rawBody = Buffer.from(JSON.stringify({ reference }));
  return {
    type: 'payment.succeeded',
    reference,
    payload: { reference },
    rawBody,
    secretIndex: 0,
    ...more,
  };
};

const idOf = (reference: string): string =>
  createHash('sha256').update(`payment.succeeded:${reference}`).digest('hex');

describe.skipIf(withoutRedis())('verified events as jobs', () => {
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

  async function serve(queue: JobQueue, options?: EnqueueOptions): Promise<string> {
    const app = express();
    app.post(
      '/',
      paymentWebhook(
        { secret: TEST_SECRET, logger: quiet },
        { 'payment.succeeded': enqueue(queue, options) },
      ),
    );
    const server: Server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
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

  const send = async (
    url: string,
    reference: string,
    payload: Record<string, unknown> = {},
  ): Promise<[number, unknown]> => {
    const response = await signedDelivery({ secret: TEST_SECRET, reference, payload }).send(url);
    return [response.status, await response.json()];
  };

  it('lead to one credit in the worker, on the verified event', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    const credit = vi.fn(() => 1);
    work(createProcessor(paymentsWith(credit)));
    for (let time = 0; time < 3; time++) {
      await vi.waitFor(async () => expect((await send(url, 'order-é'))[0]).toBe(200), PATIENCE);
    }
    await vi.waitUntil(
      async () => (await queue.getJobCounts('wait', 'active', 'delayed'))['wait'] === 0,
      PATIENCE,
    );
    await vi.waitUntil(
      async () => (await queue.getJobState(idOf('order-é'))) === 'completed',
      PATIENCE,
    );
    expect(credit.mock.calls).toEqual([
      [
        { reference: 'order-é', status: 'success' },
        expect.objectContaining({ source: 'webhook', tenant: undefined }),
      ],
    ]);
    expect((await queue.getJob(idOf('order-é')))?.returnvalue).toEqual({
      outcome: expect.stringMatching(/^(handled|duplicate)$/) as string,
    });
  }, 20_000);

  it('reach the worker as the receiver had them, without secret and signature', async () => {
    const queue = openQueue();
    await send(await serve(queue), 'order-1', { note: 'é', __proto__: { polluted: true } });
    const [job] = await queue.getJobs();
    const receive = vi.fn(() => Promise.resolve({ outcome: 'handled' as const }));
    expect(await createProcessor({ receive })(job!)).toEqual({ outcome: 'handled' });
    const { headers, rawBody } = signedDelivery({
      secret: TEST_SECRET,
      reference: 'order-1',
      payload: { note: 'é' },
    });
    const payload = { reference: 'order-1', note: 'é' };
    expect(receive.mock.calls).toEqual([
      [
        {
          type: 'payment.succeeded',
          reference: 'order-1',
          payload,
          rawBody: Buffer.from(rawBody),
          secretIndex: 0,
        },
        { signal: expect.any(AbortSignal) as AbortSignal },
      ],
    ]);
    const stored = JSON.stringify(job!.asJSON());
    for (const secret of [
      TEST_SECRET,
      ...Object.entries(headers).flatMap(([header, value]) =>
        /signature/i.test(header) ? [value] : [],
      ),
    ]) {
      expect(stored).not.toContain(secret);
    }
  });

  it('become one job if 20 deliveries come at once', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(url, 'order-1')));
    expect(new Set(replies.map(([status]) => status))).toEqual(new Set([200]));
    expect(await queue.getWaitingCount()).toBe(1);
  });

  it('get 503 while a worker handles the event, because the worker may have asked the service earlier', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    let finish: ((rows: number) => void) | undefined;
    work(createProcessor(paymentsWith(() => new Promise((resolve) => (finish = resolve)))));
    await send(url, 'order-1');
    await vi.waitUntil(() => finish !== undefined, PATIENCE);
    expect(await send(url, 'order-1')).toEqual([503, { error: 'in_progress' }]);
    finish!(1);
    await vi.waitFor(
      async () => expect(await send(url, 'order-1')).toEqual([200, { received: true }]),
      PATIENCE,
    );
  }, 20_000);

  it('are retried after credit threw, without another delivery', async () => {
    const queue = openQueue({ defaultJobOptions: { backoff: { type: 'fixed', delay: 1 } } });
    const credit = vi
      .fn()
      .mockResolvedValue(1)
      .mockRejectedValueOnce(new Error('the database is away'));
    work(createProcessor(paymentsWith(credit)));
    await send(await serve(queue), 'order-1');
    await vi.waitUntil(
      async () => (await queue.getJobState(idOf('order-1'))) === 'completed',
      PATIENCE,
    );
    expect(credit).toHaveBeenCalledTimes(2);
    expect((await queue.getJob(idOf('order-1')))?.opts.attempts).toBe(20);
  }, 20_000);

  it('runs a job again that had failed for good when the service retries, with all its attempts', async () => {
    const queue = openQueue({ defaultJobOptions: { attempts: 2, backoff: 0 } });
    const url = await serve(queue);
    const handler = vi.fn(() =>
      Promise.reject<number>(new WebhookError('unknown_order', { status: 503 })),
    );
    work(createProcessor(paymentsWith(handler)));
    const isDead = async (): Promise<boolean> =>
      (await queue.getJobState(idOf('order-1'))) === 'failed';
    await send(url, 'order-1');
    await vi.waitUntil(isDead, PATIENCE);
    expect(handler).toHaveBeenCalledTimes(2);

    expect((await send(url, 'order-1'))[0]).toBe(200);
    await vi.waitUntil(async () => handler.mock.calls.length === 4 && (await isDead()), PATIENCE);

    handler.mockImplementation(() => Promise.resolve(1));
    expect((await send(url, 'order-1'))[0]).toBe(200);
    await vi.waitUntil(
      async () => (await queue.getJobState(idOf('order-1'))) === 'completed',
      PATIENCE,
    );
    expect(handler).toHaveBeenCalledTimes(5);
  }, 30_000);

  it('stay as a failed job even if queue and worker remove failed jobs', async () => {
    const queue = openQueue({ defaultJobOptions: { attempts: 1, removeOnFail: true } });
    work(createProcessor(paymentsWith(() => 0)), { removeOnFail: { count: 0 } });
    await send(await serve(queue), 'order-1');
    await vi.waitUntil(
      async () => (await queue.getJobState(idOf('order-1'))) === 'failed',
      PATIENCE,
    );
  }, 20_000);

  it('credits a payment that had failed and then succeeds, though the job of the first notification is complete', async () => {
    const queue = openQueue();
    const url = await serve(queue);
    let status = 'failed';
    const handler = vi.fn(() => 1);
    const client = { getPayment: (reference: string) => Promise.resolve({ reference, status }) };
    work(createProcessor(paymentsWith(handler, { client })));
    await send(url, 'order-1');
    await vi.waitFor(
      async () =>
        expect((await queue.getJob(idOf('order-1')))?.returnvalue).toEqual({ outcome: 'ignored' }),
      PATIENCE,
    );
    expect(handler).not.toHaveBeenCalled();
    status = 'success';
    await vi.waitFor(async () => expect((await send(url, 'order-1'))[0]).toBe(200), PATIENCE);
    await vi.waitUntil(() => handler.mock.calls.length > 0, PATIENCE);
    expect(handler).toHaveBeenCalledOnce();
  }, 20_000);

  it('fails the job if the credit takes too long, and BullMQ tries again', async () => {
    const queue = openQueue({ defaultJobOptions: { backoff: 0 } });
    const aborted = vi.fn();
    let calls = 0;
    const payments = paymentsWith((_, context) => {
      if (++calls > 1) return 1;
      (context as { signal: AbortSignal }).signal.addEventListener('abort', aborted);
      return new Promise(() => undefined);
    });
    work(createProcessor(payments, { timeout: 50 }));
    await send(await serve(queue), 'order-1');
    await vi.waitUntil(
      async () => (await queue.getJobState(idOf('order-1'))) === 'completed',
      PATIENCE,
    );
    expect(aborted).toHaveBeenCalledOnce();
    expect(calls).toBe(2);
  }, 20_000);

  it('credits once after a kill -9 of the worker in the middle of its credit', async () => {
    const queue = openQueue({ defaultJobOptions: { backoff: { type: 'fixed', delay: 200 } } });
    const child = fork(
      fileURLToPath(new URL('./worker-process.ts', import.meta.url)),
      [`${redis.port}`, name],
      {
        execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
      },
    );
    ends.push(() => child.kill('SIGKILL'));
    const working = once(child, 'message');
    await send(await serve(queue), 'order-1');
    await working;
    child.kill('SIGKILL');
    await once(child, 'exit');

    const credit = vi.fn(() => 1);
    const store = memoryStore();
    work(createProcessor(paymentsWith(credit, { store })), {
      stalledInterval: 300,
      lockDuration: 5_000,
    });
    await vi.waitUntil(async () => (await queue.getJobState(idOf('order-1'))) === 'completed', {
      timeout: 25_000,
      interval: 50,
    });
    expect(credit).toHaveBeenCalledOnce();
    expect(await store.isDone(idOf('order-1'))).toBe(true);
  }, 40_000);

  it('keeps the job over a kill -9 of a Redis with an append-only file that is written before each reply', async () => {
    const queue = openQueue();
    expect((await send(await serve(queue), 'order-1'))[0]).toBe(200);
    await redis.kill();
    await redis.start();
    await vi.waitFor(
      async () => expect(await queue.getJobState(idOf('order-1'))).toBe('waiting'),
      PATIENCE,
    );
  }, 30_000);

  it.each(['hangs', 'is down'])(
    'answers 503 in time while Redis %s, and never 200',
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
      await vi.waitFor(
        async () => expect(await send(url, 'order-1')).toEqual([200, { received: true }]),
        PATIENCE,
      );
      expect(await queue.getJobState(idOf('order-1'))).toBe('waiting');
    },
    30_000,
  );

  it('stops at the signal of the receiver', async () => {
    const queue = openQueue();
    const put = enqueue(queue, { timeout: 60_000 });
    await queue.waitUntilReady();
    redis.freeze();
    try {
      const refused = expect(
        put(eventOf('order-1'), { signal: AbortSignal.timeout(50) }),
      ).rejects.toMatchObject({
        code: 'store_unavailable',
        status: 503,
      });
      await refused;
    } finally {
      redis.thaw();
    }
  }, 20_000);

  it('name the invalid option at startup, and the fault of an invalid job', async () => {
    const queue = openQueue();
    for (const [option, make] of [
      ['queue', () => enqueue(undefined as never)],
      ['queue', () => enqueue('payments' as never)],
      ['key', () => enqueue(queue, { key: () => 'reference' } as never)],
      ['timeout', () => enqueue(queue, { timeout: 0 })],
      ['timeOut', () => enqueue(queue, { timeOut: 100 } as never)],
      [
        'jobOptions.removeOnFail',
        () => enqueue(queue, { jobOptions: { removeOnFail: true } as never }),
      ],
      ['jobOptions.jobId', () => enqueue(queue, { jobOptions: { jobId: 'mine' } as never })],
      [
        'jobOptions.deduplication',
        () => enqueue(queue, { jobOptions: { deduplication: { id: 'one' } } as never }),
      ],
      [
        'jobOptions.debounce',
        () => enqueue(queue, { jobOptions: { debounce: { id: 'one', ttl: 1 } } as never }),
      ],
      ['payments', () => createProcessor(undefined as never)],
      ['payments', () => createProcessor({ receive: 1 } as never)],
      [
        'timeout',
        () =>
          createProcessor(
            paymentsWith(() => 1),
            { timeout: 0 },
          ),
      ],
      [
        'secret',
        () =>
          createProcessor(
            paymentsWith(() => 1),
            { secret: TEST_SECRET } as never,
          ),
      ],
    ] as const) {
      expect(make).toThrow(ConfigurationError);
      expect(make).toThrow(expect.objectContaining({ option }) as Error);
    }
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const job = {
      kind: 'payment.succeeded',
      rawBody: base64('{"reference":"order-1"}'),
      secretIndex: 0,
    };
    const faults = [
      { rawBody: 7 },
      { rawBody: '' },
      { rawBody: base64('{"reference":7}') },
      { rawBody: base64('null') },
      { rawBody: base64('secret words') },
      { secretIndex: '0' },
      { kind: undefined },
      { tenant: '' },
      { tenant: 7 },
    ];
    const credit = vi.fn(() => 1);
    const processor = createProcessor(paymentsWith(credit));
    for (const data of [
      undefined,
      null,
      'text',
      {},
      ...faults.map((fault) => ({ ...job, ...fault })),
    ]) {
      await expect(processor({ data })).rejects.toThrow(
        /^enqueue\(\) did not make this job: give verified events their own queue$/,
      );
    }
    expect(credit).not.toHaveBeenCalled();
    expect(await processor({ data: job })).toEqual({ outcome: 'handled' });
  });

  it.each(['', ' ', 7, undefined, 'order \ud800'])(
    'makes no job of an event of the reference %j',
    async (reference) => {
      const queue = openQueue();
      const event = eventOf('order-1', { reference });
      await expect(enqueue(queue)(event, new AbortController())).rejects.toMatchObject({
        code: 'invalid_reference',
      });
      expect(await queue.getWaitingCount()).toBe(0);
    },
  );

  it('refuses a queue whose default options drop jobs of other payments', () => {
    const queue = openQueue({
      defaultJobOptions: { deduplication: { id: 'payments' } } as DefaultJobOptions,
    });
    expect(() => enqueue(queue)).toThrow(
      expect.objectContaining({ option: 'jobOptions.deduplication' }) as Error,
    );
  });

  it('acknowledges no payment whose job BullMQ has dropped for another one', async () => {
    const queue = openQueue({
      defaultJobOptions: { deduplication: { id: 'payments' } } as DefaultJobOptions,
    });
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

  it('of one order number of two tenants lead to one credit each, by separate jobs', async () => {
    const queue = openQueue();
    const secretOf = (tenant: string): string => `the-webhook-secret-of-${tenant}`;
    const receiver = createReceiver<NoEvents, { tenant: string }>(
      { secret: ({ tenant }) => ({ secret: secretOf(tenant), tenant }), logger: quiet },
      enqueue(queue),
    );
    const deliver = async (tenant: string): Promise<number> => {
      const { headers, rawBody } = signedDelivery({
        secret: secretOf(tenant),
        reference: 'order-1',
      });
      const delivery = {
        method: 'POST',
        header: (name: string) => headers[name],
        body: () => Promise.resolve(rawBody),
      };
      return (await receiver.receive(delivery, { tenant })).status;
    };
    for (const tenant of ['acme', 'bolt', 'acme']) expect(await deliver(tenant)).toBe(200);
    const keys = ['acme', 'bolt'].map((tenant) =>
      identify({ tenant, kind: 'payment.succeeded', reference: 'order-1' }),
    );
    const ids = (await Promise.all(keys)).map(({ key }) => key);
    expect((await queue.getJobs()).map(({ id }) => id).sort()).toEqual([...ids].sort());

    const credits: unknown[] = [];
    const asked: unknown[] = [];
    const client = {
      getPayment: async (
        reference: string,
        { tenant }: { readonly tenant?: string | undefined },
      ) => {
        asked.push(tenant);
        return { reference, status: 'success' };
      },
    };
    const store = memoryStore();
    const credit = (payment: unknown, context: unknown): number =>
      credits.push([
        (context as { tenant: string }).tenant,
        (payment as { reference: string }).reference,
      ]);
    work(createProcessor(paymentsWith(credit, { store, client })));
    await vi.waitUntil(async () => (await queue.getCompletedCount()) === 2, PATIENCE);
    expect(credits.sort()).toEqual([
      ['acme', 'order-1'],
      ['bolt', 'order-1'],
    ]);
    expect(asked.sort()).toEqual(['acme', 'bolt']);
    for (const id of ids) expect(await store.isDone(id)).toBe(true);
  }, 20_000);

  it('of another kind reach that kind’s handler, under their own job', async () => {
    const queue = openQueue();
    const put = enqueue(queue);
    const { signal } = new AbortController();
    await put(eventOf('order-1'), { signal });
    await put(eventOf('order-1', { type: 'unrecognized', kind: 'payment.refunded' }), { signal });
    const jobs = await queue.getJobs();
    const job = jobs.find((queued) => queued.name === 'payment.refunded')!;
    expect([jobs.length, (job.data as { kind: string }).kind]).toEqual([2, 'payment.refunded']);
    expect(await createProcessor(paymentsWith(() => 1))(job)).toEqual({ outcome: 'ignored' });
    const refund = vi.fn();
    await createProcessor(paymentsWith(() => 1, { handlers: { 'payment.refunded': refund } }))(job);
    expect(refund.mock.calls[0]![0]).toMatchObject({
      type: 'payment.refunded',
      reference: 'order-1',
    });
  });

  it('reads no tenant from a polluted Object.prototype', async () => {
    const add = vi.fn((_name: string, _data: object, { jobId }: { jobId?: string }) =>
      Promise.resolve({ id: jobId }),
    );
    const queue = { add, getJob: () => Promise.resolve(undefined) };
    const put = enqueue(queue);
    const polluted = Object.prototype as { tenant?: string };
    polluted.tenant = 'mallory';
    try {
      await put(eventOf('order-1'), { signal: new AbortController().signal });
    } finally {
      delete polluted.tenant;
    }
    const [[, data, { jobId }]] = add.mock.calls as [[string, object, { jobId?: string }]];
    expect([Object.hasOwn(data, 'tenant'), jobId]).toEqual([false, idOf('order-1')]);
  });

  it('ends the credit if BullMQ cancels the job', async () => {
    const reason = new Error('cancelled');
    const controller = new AbortController();
    const processor = createProcessor(
      paymentsWith(() => {
        controller.abort(reason);
        return new Promise(() => undefined);
      }),
    );
    const rawBody = Buffer.from('{"reference":"order-1"}').toString('base64');
    const data = { kind: 'payment.succeeded', reference: 'order-1', rawBody, secretIndex: 0 };
    await expect(processor({ data }, 'token', controller.signal)).rejects.toBe(reason);
  });
});
