import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ReceiveMessageCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { postgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { createSqsServer } from 'local-aws-sqs';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import { freePort } from '../../../test/servers/starting.js';
import { createOrders, creditAndCount, type Credit } from '../src/orders.js';
import { createQueues, createWebhook, createWorker } from '../src/sqs.js';
import { AMOUNT, paid } from './paid.js';
import { clientOf, invokeOnce } from './sqs-event-source.js';

const PATIENCE = { timeout: 60_000, interval: 50 };

let postgres: PostgresServer;
let pool: Pool;
let server: Server;
let sqs: SQSClient;
let queueUrl: string;
let deadUrl: string;
let queues = 0;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  postgres = await startPostgres({ fsync: 'off' });
  pool = new Pool({ connectionString: postgres.url });
  pool.on('error', () => undefined);
  await postgresStore(pool).migrate();
  await createOrders(pool);
  const port = await freePort();
  server = await createSqsServer({ port, hostname: '127.0.0.1' });
  sqs = clientOf(`http://127.0.0.1:${port}`);
}, 60_000);

afterAll(async () => {
  sqs.destroy();
  server.close().closeAllConnections();
  await pool.end();
  await postgres.close();
});

beforeEach(async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  await useQueues();
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0).reverse()) await end();
});

/** Creates queues for this test, because all tests share the emulator. */
async function useQueues({ visibilityTimeout = 1, maxReceiveCount = 100 } = {}): Promise<void> {
  ({ queueUrl, deadUrl } = await createQueues(sqs, {
    name: `payments-${++queues}`,
    visibilityTimeout,
    maxReceiveCount,
  }));
}

const webhook = (settings = {}) =>
  createWebhook({ secret: TEST_SECRET, sqs, queueUrl, ...settings });
type SqsWorker = ReturnType<typeof createWorker>;
/** One worker for each credit, as each store listens to its pool. */
const workers = new Map<Credit, SqsWorker>();
function worker(credit = creditAndCount): SqsWorker {
  const known = workers.get(credit) ?? createWorker({ pool, client: paid, credit });
  workers.set(credit, known);
  return known;
}

/** Returns a function URL's status for a notification. */
async function send(
  reference: string,
  { secret = TEST_SECRET, to = webhook() } = {},
): Promise<number | undefined> {
  const { headers, rawBody } = signedDelivery({ secret, reference });
  const body = rawBody.toString('base64');
  const event = {
    version: '2.0',
    headers,
    requestContext: { http: { method: 'POST' } },
    body,
    isBase64Encoded: true,
  };
  return (await to(event)).statusCode;
}

async function insertOrder(reference: string): Promise<void> {
  await pool.query('INSERT INTO orders (reference, amount) VALUES ($1, $2)', [reference, AMOUNT]);
}

async function creditsOf(reference: string): Promise<number> {
  const { rows } = await pool.query<{ credits: number }>(
    'SELECT credits FROM orders WHERE reference = $1',
    [reference],
  );
  return rows[0]!.credits;
}

/** Invokes the worker when the queue has a message. */
async function invoked(
  credit?: Credit,
): Promise<{ readonly received: number; readonly failed: number }> {
  return vi.waitUntil(async () => {
    const taken = await invokeOnce(sqs, queueUrl, worker(credit));
    return taken.received > 0 && taken;
  }, PATIENCE);
}

/** Invokes the worker until the order is credited. Returns the number of failed messages. */
async function invokedUntilCredited(reference: string): Promise<{ readonly failed: number }> {
  let failed = 0;
  await vi.waitUntil(async () => {
    failed += (await invokeOnce(sqs, queueUrl, worker())).failed;
    return (await creditsOf(reference)) > 0;
  }, PATIENCE);
  return { failed };
}

describe('the example on SQS', () => {
  it('credits a genuine delivery once, however often it comes, and a forged one never', async () => {
    await insertOrder('sqs-1');
    await insertOrder('sqs-forged');
    expect(await Promise.all(Array.from({ length: 5 }, () => send('sqs-1')))).toEqual(
      Array(5).fill(200),
    );
    expect(await send('sqs-forged', { secret: 'a-secret-of-nobody' })).toBe(401);
    for (let received = 0; received < 5;) received += (await invoked()).received;
    expect(await invokeOnce(sqs, queueUrl, worker())).toEqual({ received: 0, failed: 0 });
    expect([await creditsOf('sqs-1'), await creditsOf('sqs-forged')]).toEqual([1, 0]);
  });

  it('credits once a message that is delivered again while a worker still handles it', async () => {
    await insertOrder('sqs-2');
    await send('sqs-2');
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    let started!: () => void;
    const working = new Promise<void>((resolve) => (started = resolve));
    const first = invoked(async (payment, context) => {
      const credited = await creditAndCount(payment, context);
      started();
      await released;
      return credited;
    });
    await working;
    // Its visibility timeout has passed, so SQS gives it to another worker.
    expect(await invoked()).toEqual({ received: 1, failed: 1 });
    release();
    expect(await first).toEqual({ received: 1, failed: 0 });
    expect(await creditsOf('sqs-2')).toBe(1);
  });

  it('credits once after a kill -9 of the worker between the credit and the commit', async () => {
    await insertOrder('sqs-3');
    const file = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
    const child = fork(file, ['SQS', postgres.url, queueUrl], {
      execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
    });
    ends.push(() => child.kill('SIGKILL'));
    const credited = once(child, 'message');
    await send('sqs-3');
    await credited;
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await creditsOf('sqs-3')).toBe(0);
    await invokedUntilCredited('sqs-3');
    await send('sqs-3');
    expect(await invoked()).toEqual({ received: 1, failed: 0 });
    expect(await creditsOf('sqs-3')).toBe(1);
  }, 90_000);

  it('leaves a message of an unknown order in the queue, and the others of its batch done', async () => {
    await insertOrder('sqs-4');
    await send('sqs-4-unknown');
    await send('sqs-4');
    expect((await invokedUntilCredited('sqs-4')).failed).toBeGreaterThan(0);
    expect(await creditsOf('sqs-4')).toBe(1);
    await insertOrder('sqs-4-unknown');
    await invokedUntilCredited('sqs-4-unknown');
    expect(await creditsOf('sqs-4-unknown')).toBe(1);
  });

  it('moves what fails for good to the dead-letter queue', async () => {
    const broken: Credit = () => Promise.reject(new Error('the books are closed'));
    await useQueues({ maxReceiveCount: 3 });
    await send('sqs-5');
    for (let time = 0; time < 3; time++)
      expect(await invoked(broken)).toEqual({ received: 1, failed: 1 });
    await vi.waitUntil(async () => {
      // SQS moves the message at its next delivery.
      expect(await invokeOnce(sqs, queueUrl, worker(broken))).toEqual({ received: 0, failed: 0 });
      return (
        (await sqs.send(new ReceiveMessageCommand({ QueueUrl: deadUrl }))).Messages?.length === 1
      );
    }, PATIENCE);
  }, 90_000);

  it('credits nothing for messages that another wrote: the service does not confirm them, or they are no jobs', async () => {
    await insertOrder('sqs-7');
    await useQueues({ visibilityTimeout: 60 });
    const forged = { type: 'payment.succeeded', reference: 'sqs-7' };
    for (const job of [forged, { reference: 'sqs-7' }, 'sqs-7', null]) {
      const MessageBody = JSON.stringify(job);
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
    }
    const unpaid = {
      getPayment: async (reference: string) => ({ reference, status: 'cancelled' as const }),
    };
    const batch = { received: 0, failed: 0 };
    while (batch.received < 4) {
      const { received, failed } = await invokeOnce(
        sqs,
        queueUrl,
        createWorker({ pool, client: unpaid }),
      );
      batch.received += received;
      batch.failed += failed;
    }
    expect(batch).toEqual({ received: 4, failed: 3 });
    expect(await creditsOf('sqs-7')).toBe(0);
  });

  it('answers no 2xx where SQS is down, or takes the message and says nothing', async () => {
    await insertOrder('sqs-6');
    const mute = createServer((socket) => ends.push(() => socket.destroy()));
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    ends.push(() => mute.close());
    const { port } = mute.address() as AddressInfo;
    const silent = clientOf(`http://127.0.0.1:${port}`);
    ends.push(() => silent.destroy());
    expect(await send('sqs-6', { to: webhook({ sqs: silent, handlerTimeout: 200 }) })).toBe(503);

    const down = clientOf(`http://127.0.0.1:${await freePort()}`);
    ends.push(() => down.destroy());
    expect(await send('sqs-6', { to: webhook({ sqs: down }) })).toBe(503);
    expect(await creditsOf('sqs-6')).toBe(0);
  });
});
