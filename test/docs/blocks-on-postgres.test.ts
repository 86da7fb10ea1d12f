import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createClient, type PaylinkClient, type Payment } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { createPayments, type Payments } from '@paylink/payments';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { Queue, Worker } from 'bullmq';
import express from 'express';
import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { creditOrder } from '../../examples/shop/src/credit-order.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startRedis, withoutRedis, type RedisServer } from '../servers/redis.js';
import { blockOf, ordersTable, runBlock, runServer, serve } from './blocks.js';

type Tx = Pick<PoolClient, 'query'>;

const RECIPE = await readFile(
  new URL('../../examples/shop/src/credit-order.ts', import.meta.url),
  'utf8',
);
/** Ends a wait that hangs. */
const SOON = { timeout: 20_000 };

describe('a code block on PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let store: PostgresStore<Tx>;
  let emulator: Emulator;
  let paylink: PaylinkClient;

  beforeEach(() => {
    // Blocks report broken connections of their pools there, at the latest when the server ends.
    vi.spyOn(console, 'error')
      .mockImplementation(() => undefined)
      .mockClear();
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  });

  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
    pool = new Pool({ connectionString: server.url });
    store = postgresStore(pool);
    await store.migrate();
    await pool.query(await ordersTable());
    emulator = await startEmulator();
    paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  }, 60_000);

  afterAll(async () => {
    await pool.end();
    await emulator.close();
    await server.close();
  });

  /** Creates an order with its link. */
  async function order(isPaid = true): Promise<string> {
    const reference = randomUUID();
    await pool.query("INSERT INTO orders (reference, amount, currency) VALUES ($1, 15000, 'XOF')", [
      reference,
    ]);
    await paylink.createPaymentLink({ amount: 15_000, reference, single_use: true });
    if (isPaid) await emulator.pay(reference);
    return reference;
  }

  const isCredited = async (reference: string): Promise<boolean> => {
    const { rowCount } = await pool.query(
      'SELECT FROM orders WHERE reference = $1 AND paid_at IS NOT NULL',
      [reference],
    );
    return rowCount === 1;
  };

  const envOf = (application: string): Record<string, string> => ({
    DATABASE_URL: `${server.url}?application_name=${application}`,
    WEBHOOK_SECRET: TEST_SECRET,
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
  });

  const deliverTo = async (url: string, reference: string, secret = TEST_SECRET): Promise<number> =>
    (await signedDelivery({ reference, secret }).send(url)).status;

  describe('the outbox of docs/serverless.md', () => {
    interface Outbox {
      noteMail(tx: Tx, reference: string): Promise<void>;
      sendMails(pool: Pool, send: (reference: string) => Promise<void>): Promise<void>;
    }
    const outbox = async (): Promise<Outbox> => {
      await pool.query('DROP TABLE IF EXISTS outbox');
      await pool.query(await blockOf('docs/serverless.md', 'CREATE TABLE outbox'));
      return (await runBlock(await blockOf('docs/serverless.md', 'noteMail'))) as Outbox;
    };
    const noted = async (): Promise<string[]> => {
      const { rows } = await pool.query<{ reference: string }>(
        'SELECT reference FROM outbox ORDER BY noted_at',
      );
      return rows.map(({ reference }) => reference);
    };

    it('holds one mail for each credit, and none for a rolled-back credit', async () => {
      const { noteMail } = await outbox();
      let isBroken = false;
      const payments = createPayments({
        client: paylink,
        store,
        credit: async (payment, { tx }) => {
          const credited = await creditOrder(tx, payment);
          await noteMail(tx, payment.reference);
          if (isBroken) throw new Error('after the mail was noted');
          return credited;
        },
      });
      const app = express().post(
        '/webhooks/payments',
        paymentWebhook({ secret: TEST_SECRET }, payments),
      );
      app.use(
        ((_error, _req, res, _next) =>
          void res.sendStatus(500)) satisfies express.ErrorRequestHandler,
      );
      const url = await serve(app as RequestListener);
      const [first, second] = [await order(), await order()];

      const statuses = await Promise.all(Array.from({ length: 5 }, () => deliverTo(url, first)));
      expect(statuses).toContain(200);
      isBroken = true;
      expect(await deliverTo(url, second)).toBe(500);
      expect([await isCredited(first), await isCredited(second)]).toEqual([true, false]);
      expect(await noted()).toEqual([first]);
    });

    it('gives each mail to one of several senders, and a failed mail to a later run', async () => {
      const { noteMail, sendMails } = await outbox();
      const references = Array.from({ length: 30 }, (_, index) => `mail-${index}`);
      const client = await pool.connect();
      for (const reference of references) await noteMail(client, reference);
      client.release();

      const sent: string[] = [];
      const send = async (reference: string): Promise<void> => {
        if (reference === 'mail-7') throw new Error('the mail server is down');
        sent.push(reference);
      };
      await Promise.all([sendMails(pool, send), sendMails(pool, send), sendMails(pool, send)]);
      expect(sent.sort()).toEqual(references.filter((reference) => reference !== 'mail-7').sort());
      expect(console.error).toHaveBeenCalledExactlyOnceWith(
        'the receipt of mail-7 was not sent',
        expect.any(Error),
      );

      const again: string[] = [];
      const sendAgain = async (reference: string): Promise<void> => void again.push(reference);
      await sendMails(pool, sendAgain);
      expect(again).toEqual([]);
      await pool.query("UPDATE outbox SET tried_at = tried_at - interval '5 minutes 1 second'");
      await sendMails(pool, sendAgain);
      expect(again).toEqual(['mail-7']);
    });
  });

  it('separates two merchants with the same order number: docs/security.md', async () => {
    const second = await startEmulator();
    onTestFinished(() => second.close());
    const merchants = {
      acme: {
        webhookSecret: 'the secret of acme',
        // The client of the other blocks belongs to a single merchant.
        client: createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey }),
        emulator,
      },
      globex: {
        webhookSecret: 'the secret of globex',
        client: createClient({ baseUrl: second.baseUrl, apiKey: second.apiKey }),
        emulator: second,
      },
    };
    await pool.query(
      'CREATE TABLE orders_of (merchant text, reference text, amount int, credits int DEFAULT 0, PRIMARY KEY (merchant, reference))',
    );
    for (const [id, { client }] of Object.entries(merchants)) {
      await pool.query('INSERT INTO orders_of VALUES ($1, $2, 15000)', [id, 'the-same']);
      await client.createPaymentLink({ amount: 15_000, reference: 'the-same' });
    }
    await merchants.acme.emulator.pay('the-same');

    const { app } = (await runBlock(await blockOf('docs/security.md', 'merchantAt'), {
      locals: ['app'],
      env: {
        PGHOST: '127.0.0.1',
        PGPORT: String(server.port),
        PGUSER: 'postgres',
        PGDATABASE: 'postgres',
      },
      declared: {
        merchantAt: async (name: string) => {
          const id = name.toLowerCase() as keyof typeof merchants;
          return Object.hasOwn(merchants, id) ? { id, ...merchants[id] } : undefined;
        },
        clientOf: (tenant: keyof typeof merchants) => merchants[tenant].client,
        creditOrder: async (tx: Tx, tenant: string, { reference, amount }: Payment) => {
          const sql =
            'UPDATE orders_of SET credits = credits + 1 WHERE merchant = $1 AND reference = $2 AND amount = $3';
          return (await tx.query(sql, [tenant, reference, amount])).rowCount;
        },
      },
    })) as { app: RequestListener };
    const origin = new URL(await serve(app)).origin;
    const deliver = (path: string, secret: string): Promise<number> =>
      deliverTo(`${origin}/webhooks/${path}`, 'the-same', secret);

    expect(await deliver('acme', merchants.acme.webhookSecret)).toBe(200);
    expect(await deliver('Acme', merchants.acme.webhookSecret)).toBe(200);
    expect(await deliver('nobody', merchants.acme.webhookSecret)).toBe(404);
    expect(await deliver('globex', merchants.acme.webhookSecret)).toBe(401);
    // Globex has not been paid yet.
    expect(await deliver('globex', merchants.globex.webhookSecret)).toBe(503);
    await second.pay('the-same');
    expect(await deliver('globex', merchants.globex.webhookSecret)).toBe(200);
    const { rows } = await pool.query('SELECT merchant, credits FROM orders_of ORDER BY merchant');
    expect(rows).toEqual([
      { merchant: 'acme', credits: 1 },
      { merchant: 'globex', credits: 1 },
    ]);
  });

  /** `payments` on this database, as declared by a block. */
  const ownPayments = (): Payments =>
    createPayments({
      client: paylink,
      store,
      credit: (payment, { tx }) => creditOrder(tx, payment),
    });

  it('credits the job of a webhook in a worker: docs/queues.md', async () => {
    const jobs: unknown[] = [];
    const { webhook, work } = (await runBlock(await blockOf('docs/queues.md', 'queue.send'), {
      env: { WEBHOOK_SECRET: TEST_SECRET },
      declared: {
        payments: ownPayments(),
        queue: { send: async (job: unknown) => void jobs.push(job) },
      },
    })) as { webhook: express.RequestHandler; work(job: unknown): Promise<void> };
    const url = await serve(express().post('/webhooks/payments', webhook) as RequestListener);
    const [paid, unpaid] = [await order(), await order(false)];
    expect([await deliverTo(url, paid), await deliverTo(url, unpaid)]).toEqual([200, 200]);
    await work(jobs[0]);
    await work(jobs[0]);
    await expect(work(jobs[1])).rejects.toMatchObject({ code: 'payment_pending' });
    expect([await isCredited(paid), await isCredited(unpaid)]).toEqual([true, false]);
  });

  it('refuses a message of a queue that the service did not sign: docs/queues.md', async () => {
    const { run } = (await runBlock(await blockOf('docs/queues.md', 'verifier.verify'), {
      env: { WEBHOOK_SECRET: TEST_SECRET },
      declared: { payments: ownPayments() },
    })) as { run(message: { rawBody: string; headers: Record<string, string> }): Promise<void> };
    const [reference, another] = [await order(), await order()];
    const { rawBody, headers } = signedDelivery({ reference });
    const forged = Buffer.from(JSON.stringify({ reference: another })).toString('base64');

    await expect(run({ rawBody: forged, headers })).rejects.toMatchObject({
      code: 'invalid_signature',
    });
    await run({ rawBody: rawBody.toString('base64'), headers });
    expect([await isCredited(reference), await isCredited(another)]).toEqual([true, false]);
  });

  it('runs as a whole app that credits in three ways: README.md', async () => {
    const url = await runServer(await blockOf('README.md', 'app.listen(3000)'), {
      env: envOf('readme'),
      files: { 'credit-order.ts': RECIPE },
    });
    const [notified, returned, unpaid] = [await order(), await order(), await order(false)];
    expect([
      await deliverTo(url, notified),
      await deliverTo(url, unpaid),
      await deliverTo(url, notified, 'another'),
    ]).toEqual([200, 503, 401]);
    const page = await fetch(new URL(`/orders/${returned}`, url));
    expect(await page.json()).toEqual({ status: 'success' });
    expect([
      await isCredited(notified),
      await isCredited(returned),
      await isCredited(unpaid),
    ]).toEqual([true, true, false]);
  });

  it('runs as a whole app that credits once and survives broken connections: AGENTS.md', async () => {
    const url = await runServer(await blockOf('AGENTS.md', 'app.listen(3000)'), {
      env: envOf('agents'),
      files: { 'credit-order.ts': RECIPE },
    });
    const created = (await (await fetch(new URL('/orders', url), { method: 'POST' })).json()) as {
      reference: string;
    };
    const [paid, unpaid] = [await order(), await order(false)];
    expect([
      await deliverTo(url, paid),
      await deliverTo(url, paid),
      await deliverTo(url, unpaid),
    ]).toEqual([200, 200, 503]);
    await emulator.pay(created.reference);
    expect(await (await fetch(new URL(`/orders/${created.reference}`, url))).json()).toEqual({
      status: 'success',
    });
    expect((await fetch(new URL('/orders/unknown', url))).status).toBe(404);
    expect([
      await isCredited(paid),
      await isCredited(created.reference),
      await isCredited(unpaid),
    ]).toEqual([true, true, false]);
    // The statement in packages/postgres/README.md that finds an order's mark.
    const mark = await blockOf('packages/postgres/README.md', 'SELECT done_at');
    const marksOf = async (reference: string) =>
      (await pool.query<{ done_at: Date }>(mark.replace('order-42', reference))).rows;
    expect([await marksOf(paid), await marksOf(unpaid)]).toEqual([
      [{ done_at: expect.any(Date) as Date }],
      [],
    ]);

    const isReported = new Promise<void>((resolve) => {
      vi.mocked(console.error).mockImplementation(
        (line) => line === 'an idle connection broke' && resolve(),
      );
    });
    await pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agents'",
    );
    await isReported;
    expect(await deliverTo(url, paid)).toBe(200);
  });

  describe.skipIf(withoutRedis())('on Redis too', () => {
    let redis: RedisServer;

    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.close());

    /** Runs a block with Redis's usual port replaced by the test's port. */
    const run = async <Locals>(
      page: string,
      containing: string,
      ...locals: string[]
    ): Promise<Locals> => {
      const code = (await blockOf(page, containing)).replaceAll('6379', String(redis.port));
      const files = {
        'credit-order.ts': RECIPE,
        'payments.ts': await blockOf('packages/payments/README.md', '// payments.ts'),
      };
      const env = { ...envOf('redis'), REDIS_URL: redis.url };
      return (await runBlock(code, { env, files, locals })) as Locals;
    };

    it('the receiver and the worker of packages/bullmq/README.md credit an order once', async () => {
      const { worker } = await run<{ worker: Worker }>(
        'packages/bullmq/README.md',
        'createProcessor(payments)',
        'worker',
      );
      onTestFinished(() => worker.close());
      const { app, queue } = await run<{ app: express.Express; queue: Queue }>(
        'packages/bullmq/README.md',
        'enqueue(queue)',
        'app',
        'queue',
      );
      onTestFinished(() => queue.close());
      const url = await serve(app as RequestListener);
      const reference = await order();
      expect(await deliverTo(url, reference)).toBe(200);
      await vi.waitFor(async () => expect(await isCredited(reference)).toBe(true), SOON);
      // 503 while the worker still runs.
      await vi.waitFor(async () => expect(await deliverTo(url, reference)).toBe(200), SOON);
    });
  });
});
