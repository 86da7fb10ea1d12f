import { errorMonitor } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createClient, type PaylinkClient, type Payment } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { Queue, Worker } from 'bullmq';
import express from 'express';
import type { Redis } from 'ioredis';
import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { creditOrder } from '../../examples/shop/src/credit-order.js';
import { startPostgres, type PostgresServer } from '../engines/postgres.js';
import { startRedis, withoutRedis, type RedisServer } from '../engines/redis.js';
import { blockOf, runBlock, runServer, serve, type Surroundings } from './blocks.js';

const RECIPE = await readFile(new URL('../../examples/shop/src/credit-order.ts', import.meta.url), 'utf8');
/** The table of orders of a quick start. */
const [, ORDERS] = /await pool\.query\(`(CREATE TABLE IF NOT EXISTS orders[^`]*)`\)/.exec(
  await blockOf('docs/start/express.md', 'CREATE TABLE'),
)!;
/** Ends what hangs. */
const SOON = { timeout: 20_000 };

describe('a block of a page, on PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let idempotency: PostgresStore<PoolClient>;
  let emulator: Emulator;
  let paylink: PaylinkClient;

  beforeEach(() => {
    // A block reports a broken connection of its pool there, at the latest when the server ends.
    vi.spyOn(console, 'error')
      .mockImplementation(() => undefined)
      .mockClear();
  });

  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
    pool = new Pool({ connectionString: server.url });
    idempotency = postgresStore(pool);
    await idempotency.migrate();
    await pool.query(ORDERS!);
    emulator = await startEmulator();
    paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  }, 60_000);

  afterAll(async () => {
    await pool.end();
    await emulator.close();
    await server.close();
  });

  /** An order with its link. */
  async function order(isPaid = true): Promise<string> {
    const { rows } = await pool.query<{ reference: string }>('INSERT INTO orders (amount) VALUES (15000) RETURNING reference');
    const { reference } = rows[0]!;
    await paylink.createPaymentLink({ amount: 15_000, reference, single_use: true });
    if (isPaid) await emulator.pay(reference);
    return reference;
  }

  const isCredited = async (reference: string): Promise<boolean> => {
    const { rows } = await pool.query<{ paid: boolean }>('SELECT paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1', [
      reference,
    ]);
    return rows[0]!.paid;
  };

  describe('the outbox of docs/serverless.md', () => {
    interface Outbox {
      noteMail(tx: PoolClient, reference: string): Promise<void>;
      sendMails(pool: Pool, send: (reference: string) => Promise<void>): Promise<void>;
    }
    const outbox = async (): Promise<Outbox> => {
      await pool.query('DROP TABLE IF EXISTS outbox');
      await pool.query(await blockOf('docs/serverless.md', 'CREATE TABLE outbox'));
      return (await runBlock(await blockOf('docs/serverless.md', 'noteMail'))) as Outbox;
    };
    const noted = async (): Promise<string[]> => {
      const { rows } = await pool.query<{ reference: string }>('SELECT reference FROM outbox ORDER BY noted_at');
      return rows.map(({ reference }) => reference);
    };

    it('holds one mail for each credit, and none for a credit that is rolled back', async () => {
      const { noteMail } = await outbox();
      let isBroken = false;
      const webhook = paymentWebhook(
        { secret: TEST_SECRET, confirm: paylink, idempotency },
        async ({ reference }, { tx, payment }) => {
          await creditOrder(tx, payment);
          await noteMail(tx, reference);
          if (isBroken) throw new Error('after the mail was noted');
        },
      );
      const app = express().post('/webhooks/payments', webhook);
      app.use(((_error, _req, res, _next) => void res.sendStatus(500)) satisfies express.ErrorRequestHandler);
      const url = await serve(app as RequestListener);
      const [first, second] = [await order(), await order()];

      const statuses = await Promise.all(
        Array.from({ length: 5 }, async () => (await signedDelivery({ reference: first }).send(url)).status),
      );
      expect(statuses).toContain(200);
      isBroken = true;
      expect((await signedDelivery({ reference: second }).send(url)).status).toBe(500);
      expect([await isCredited(first), await isCredited(second)]).toEqual([true, false]);
      expect(await noted()).toEqual([first]);
    });

    it('gives each mail to one of several senders, and one that failed to a later run', async () => {
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
      expect(console.error).toHaveBeenCalledExactlyOnceWith('the receipt of mail-7 was not sent', expect.any(Error));

      const again: string[] = [];
      const sendAgain = async (reference: string): Promise<void> => void again.push(reference);
      await sendMails(pool, sendAgain);
      expect(again).toEqual([]);
      await pool.query("UPDATE outbox SET tried_at = tried_at - interval '5 minutes 1 second'");
      await sendMails(pool, sendAgain);
      expect(again).toEqual(['mail-7']);
    });
  });

  it('keeps two merchants apart who have the same order number: docs/security.md', async () => {
    const second = await startEmulator();
    onTestFinished(() => second.close());
    const merchants = {
      acme: { webhookSecret: 'the secret of acme', client: paylink, emulator },
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
      env: { PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'postgres', PGDATABASE: 'postgres' },
      declared: {
        merchantAt: async (name: string) => {
          const id = name.toLowerCase() as keyof typeof merchants;
          return Object.hasOwn(merchants, id) ? { id, ...merchants[id] } : undefined;
        },
        clientOf: (tenant: keyof typeof merchants) => merchants[tenant].client,
        creditOrder: (tx: PoolClient, tenant: string, { reference, amount }: Payment) =>
          tx.query('UPDATE orders_of SET credits = credits + 1 WHERE merchant = $1 AND reference = $2 AND amount = $3', [
            tenant,
            reference,
            amount,
          ]),
      },
    })) as { app: RequestListener };
    const origin = new URL(await serve(app)).origin;
    const deliver = async (path: string, secret: string): Promise<number> =>
      (await signedDelivery({ secret, reference: 'the-same' }).send(`${origin}/webhooks/${path}`)).status;

    expect(await deliver('acme', merchants.acme.webhookSecret)).toBe(200);
    expect(await deliver('Acme', merchants.acme.webhookSecret)).toBe(200);
    expect(await deliver('globex', merchants.acme.webhookSecret)).toBe(401);
    expect(await deliver('globex', merchants.globex.webhookSecret)).toBe(503); // not paid to this one
    await second.pay('the-same');
    expect(await deliver('globex', merchants.globex.webhookSecret)).toBe(200);
    const { rows } = await pool.query('SELECT merchant, credits FROM orders_of ORDER BY merchant');
    expect(rows).toEqual([
      { merchant: 'acme', credits: 1 },
      { merchant: 'globex', credits: 1 },
    ]);
  });

  it('refuses a message of a queue that the service did not sign: docs/queues.md', async () => {
    const creditOrder = vi.fn(async (tx: PoolClient, reference: string) => {
      await tx.query('UPDATE orders SET paid_at = now() WHERE reference = $1', [reference]);
    });
    const { run } = (await runBlock(await blockOf('docs/queues.md', 'createDispatcher, createVerifier'), {
      env: { DATABASE_URL: server.url, WEBHOOK_SECRET: TEST_SECRET },
      declared: { creditOrder },
    })) as { run(message: { rawBody: string; headers: Record<string, string> }): Promise<void> };
    const [reference, another] = [await order(), await order()];
    const { rawBody, headers } = signedDelivery({ reference });
    const forged = Buffer.from(JSON.stringify({ reference: another })).toString('base64');

    await expect(run({ rawBody: forged, headers })).rejects.toMatchObject({ code: 'invalid_signature' });
    expect(creditOrder).not.toHaveBeenCalled();
    await run({ rawBody: rawBody.toString('base64'), headers });
    await run({ rawBody: rawBody.toString('base64'), headers });
    expect(creditOrder).toHaveBeenCalledTimes(1);
    expect([await isCredited(reference), await isCredited(another)]).toEqual([true, false]);
  });

  it('is a whole app that credits once, and lives on when its database ends: AGENTS.md', async () => {
    const url = await runServer(await blockOf('AGENTS.md', 'app.listen(3000)'), {
      env: {
        DATABASE_URL: `${server.url}?application_name=agents`,
        WEBHOOK_SECRET: TEST_SECRET,
        PAYLINK_BASE_URL: emulator.baseUrl,
        PAYLINK_API_KEY: emulator.apiKey,
      },
      files: { 'credit-order.ts': RECIPE },
    });
    const [paid, unpaid] = [await order(), await order(false)];
    const deliver = async (reference: string, secret = TEST_SECRET): Promise<number> =>
      (await signedDelivery({ reference, secret }).send(url)).status;
    expect([await deliver(paid), await deliver(paid), await deliver(unpaid), await deliver(unpaid, 'another')]).toEqual([
      200, 200, 503, 401,
    ]);
    expect([await isCredited(paid), await isCredited(unpaid)]).toEqual([true, false]);
    // The statement by which packages/postgres/README.md looks for the mark of an order.
    const mark = await blockOf('packages/postgres/README.md', 'SELECT done_at');
    const marksOf = async (reference: string) => (await pool.query<{ done_at: Date }>(mark.replace('order-42', reference))).rows;
    expect([await marksOf(paid), await marksOf(unpaid)]).toEqual([[{ done_at: expect.any(Date) as Date }], []]);

    const isReported = new Promise<void>((resolve) => {
      vi.mocked(console.error).mockImplementation((what) => what === 'an idle connection broke' && resolve());
    });
    await pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agents'");
    await isReported;
    expect(await deliver(paid)).toBe(200);
  });

  describe.skipIf(withoutRedis())('and on Redis:', () => {
    let redis: RedisServer;
    let env: Record<string, string>;

    beforeAll(async () => {
      redis = await startRedis();
      const { baseUrl, apiKey } = emulator;
      env = {
        WEBHOOK_SECRET: TEST_SECRET,
        DATABASE_URL: server.url,
        REDIS_URL: redis.url,
        PAYLINK_BASE_URL: baseUrl,
        PAYLINK_API_KEY: apiKey,
      };
    });
    afterAll(() => redis.close());

    /** A block that names Redis's usual port is run with that of the test's. */
    const onRedis = async (page: string, containing: string): Promise<string> =>
      (await blockOf(page, containing)).replaceAll('6379', String(redis.port));

    const run = async <Locals>(code: string, ...locals: string[]): Promise<Locals> =>
      (await runBlock(code, { env, files: { 'credit-order.ts': RECIPE }, locals })) as Locals;

    it('the receiver and the worker of packages/bullmq/README.md credit an order once', async () => {
      const { worker, pool: ofBlock } = await run<{ worker: Worker; pool: Pool }>(
        await onRedis('packages/bullmq/README.md', 'createProcessor('),
        'worker',
        'pool',
      );
      onTestFinished(async () => {
        await worker.close();
        await ofBlock.end();
      });
      const { app, queue } = await run<{ app: express.Express; queue: Queue }>(
        await onRedis('packages/bullmq/README.md', 'enqueue(queue)'),
        'app',
        'queue',
      );
      onTestFinished(() => queue.close());
      const url = await serve(app as RequestListener);
      const reference = await order();
      expect((await signedDelivery({ reference }).send(url)).status).toBe(200);
      await vi.waitFor(async () => expect(await isCredited(reference)).toBe(true), SOON);
      // 503 while the worker is still at it.
      await vi.waitFor(async () => expect((await signedDelivery({ reference }).send(url)).status).toBe(200), SOON);
    });

    /** The receiver of packages/redis/README.md, on Redis, with what its module `./credit-order.js` exports. */
    async function receiverOnRedis(surroundings: Surroundings): Promise<{ app: express.Express; pool: Pool }> {
      const code = await onRedis('packages/redis/README.md', 'redisStore(redis)');
      const block = (await runBlock(code, { env, ...surroundings, locals: ['app', 'redis', 'pool'] })) as {
        app: express.Express;
        redis: Redis;
        pool: Pool;
      };
      onTestFinished(async () => {
        block.redis.disconnect();
        await block.pool.end();
      });
      return block;
    }

    it('the receiver of packages/redis/README.md credits an order once', async () => {
      const { app } = await receiverOnRedis({ files: { 'credit-order.ts': RECIPE } });
      const url = await serve(app as RequestListener);
      const [paid, unpaid] = [await order(), await order(false)];
      for (let time = 0; time < 3; time++) expect((await signedDelivery({ reference: paid }).send(url)).status).toBe(200);
      expect((await signedDelivery({ reference: unpaid }).send(url)).status).toBe(503);
      expect([await isCredited(paid), await isCredited(unpaid)]).toEqual([true, false]);
    });

    it('the receiver of packages/redis/README.md survives a connection that breaks while its handler works', async () => {
      const uncaught = vi.fn();
      process.on('uncaughtException', uncaught);
      onTestFinished(() => void process.off('uncaughtException', uncaught));
      const failure = new Error('the handler saw that its connection broke');
      const afterCredit = vi.fn(async (_tx: PoolClient): Promise<void> => undefined);
      afterCredit.mockImplementationOnce(async (tx) => {
        // This listener does not keep an error from ending the process, as one of 'error' would.
        const isBroken = new Promise<void>((resolve) => {
          tx.once(errorMonitor, () => {
            resolve();
          });
        });
        const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await pool.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
        await isBroken;
        throw failure;
      });
      const { app, pool: ofBlock } = await receiverOnRedis({
        declared: { afterCredit },
        files: {
          'recipe.ts': RECIPE,
          'credit-order.ts': `import { creditOrder as credit } from './recipe.js';
            export const creditOrder = async (tx, payment) => void ((await credit(tx, payment)) && (await afterCredit(tx)));`,
        },
      });
      const seen: unknown[] = [];
      app.use(((error: unknown, _req, res, _next) => {
        seen.push(error);
        res.sendStatus(500);
      }) satisfies express.ErrorRequestHandler);
      const url = await serve(app as RequestListener);
      const reference = await order();

      expect((await signedDelivery({ reference }).send(url)).status).toBe(500);
      expect(seen).toEqual([failure]);
      expect(uncaught).not.toHaveBeenCalled();
      expect([await isCredited(reference), ofBlock.totalCount]).toEqual([false, 0]);
      expect((await signedDelivery({ reference }).send(url)).status).toBe(200);
      expect(await isCredited(reference)).toBe(true);
    });
  });
});
