import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { paymentWebhook } from '@paylink/express';
import { createPayments, identify } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { signedDelivery } from '@paylink/testing';
import express from 'express';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import { newFolder, paylink, SECRET, start, type Result } from './paylink.js';
import { serve } from './servers.js';

const silent = { warn: () => undefined, error: () => undefined };

let server: PostgresServer;
let pool: pg.Pool;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startPostgres({ fsync: 'off' });
  pool = new pg.Pool({ connectionString: server.url, max: 6 });
  // A process normally has far fewer stores.
  pool.setMaxListeners(0);
  await postgresStore(pool, { inbox: true }).migrate();
  await pool.query('CREATE TABLE orders (reference text PRIMARY KEY, credits int DEFAULT 0)');
  env = { DATABASE_URL: server.url, WEBHOOK_SECRET: SECRET };
}, 120_000);
beforeEach(() => pool.query('TRUNCATE paylink_marks, paylink_marks_inbox, orders'));
afterAll(async () => {
  await pool.end();
  await server.close();
});

/** A merchant's server with a credit that the test can break. */
async function openShop(tenant?: string) {
  const store = postgresStore(pool, { inbox: true, logger: silent });
  const shop = { isBroken: true, arrivals: [] as number[], open: Promise.resolve() };
  const payments = createPayments({
    store,
    logger: silent,
    client: {
      getPayment: (reference: string) => Promise.resolve({ reference, status: 'success' as const }),
    },
    credit: async ({ reference }, { tx }) => {
      if (shop.isBroken) throw new Error('broken');
      const sql = 'UPDATE orders SET credits = credits + 1 WHERE reference = $1';
      return (await tx.query(sql, [reference])).rowCount;
    },
  });
  const app = express();
  app.use((_req, _res, next) => {
    shop.arrivals.push(performance.now());
    void shop.open.then(() => next());
  });
  const secret = tenant === undefined ? SECRET : () => ({ secret: SECRET, tenant });
  app.post('/webhook', paymentWebhook({ secret, logger: silent }, payments));
  app.use(((_error, _req, res, _next) => void res.sendStatus(500)) as express.ErrorRequestHandler);
  const url = `${await serve(app as RequestListener)}/webhook`;
  const deliver = async (reference: string): Promise<number> => {
    await pool.query('INSERT INTO orders VALUES ($1) ON CONFLICT DO NOTHING', [reference]);
    return (await signedDelivery({ secret: SECRET, reference }).send(url)).status;
  };
  const expectKept = (count: number) =>
    vi.waitFor(async () => expect(await store.inbox!.list({ limit: 2_000 })).toHaveLength(count), {
      timeout: 20_000,
    });
  return Object.assign(shop, { url, deliver, expectKept, store, payments });
}

const creditsOf = async (): Promise<Record<string, number>> => {
  const sql = 'SELECT credits, count(*)::int AS orders FROM orders GROUP BY credits';
  const { rows } = await pool.query<{ credits: number; orders: number }>(sql);
  return Object.fromEntries(rows.map(({ credits, orders }) => [credits, orders]));
};

const recordsOf = ({ stdout }: Result): Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('paylink inbox replay', () => {
  it('credits each order once if two terminals replay 200 orders and 60 are credited meanwhile', async () => {
    const shop = await openShop();
    const references = Array.from({ length: 200 }, (_, number) => `order-${number}`);
    for (let from = 0; from < 200; from += 50) {
      await Promise.all(references.slice(from, from + 50).map(shop.deliver));
    }
    await shop.expectKept(200);
    shop.isBroken = false;
    shop.arrivals.length = 0;
    let goOn!: () => void;
    shop.open = new Promise((resolve) => (goOn = resolve));

    const args = ['inbox', 'replay', '--to', shop.url, '--rate', '10000', '--json'];
    const terminals = [start(args, env), start(args, env)];
    await vi.waitFor(() => expect(shop.arrivals).toHaveLength(2), { timeout: 30_000 });
    const { credited } = await shop.payments.reconcile(references.slice(-60));
    expect(credited).toHaveLength(60);
    goOn();
    const results = await Promise.all(terminals.map((terminal) => terminal.result()));

    for (const result of results) {
      expect(result).toMatchObject({ code: 0, stderr: '' });
      const records = recordsOf(result);
      expect(records.map(({ reference }) => reference).sort()).toEqual([...references].sort());
      const ends = new Set(records.map((record) => record['result']));
      expect([...ends].sort()).toEqual(['accepted', 'handled meanwhile']);
    }
    expect(await creditsOf()).toEqual({ 1: 200 });
    await shop.expectKept(0);
    const empty = await paylink(['inbox', 'replay', '--to', shop.url], { env });
    expect(empty).toMatchObject({
      code: 0,
      stdout: 'The inbox has no failed delivery to replay.\n',
    });
  }, 120_000);

  it('prints a result for each delivery and exits with 1 if one is refused', async () => {
    const shop = await openShop();
    for (const reference of ['order-1', 'order-2', 'order-3']) await shop.deliver(reference);
    await shop.expectKept(3);
    shop.isBroken = false;
    await pool.query("DELETE FROM orders WHERE reference = 'order-2'");
    const { code, stdout } = await paylink(['inbox', 'replay', '--to', shop.url], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /order-1 +200 .*\n.*order-2 +503 .*not_credited\n.*order-3 +200 .*\n\n2 of 3 accepted\n/,
    );
    expect(await creditsOf()).toEqual({ 1: 2 });
    await shop.expectKept(1);
  });

  it('sends at most --rate deliveries per second', async () => {
    const shop = await openShop();
    for (const number of [1, 2, 3, 4, 5, 6]) await shop.deliver(`order-${number}`);
    await shop.expectKept(6);
    shop.isBroken = false;
    shop.arrivals.length = 0;
    const args = ['inbox', 'replay', '--to', shop.url, '--rate', '5'];
    expect(await paylink(args, { env })).toMatchObject({ code: 0 });
    // Five gaps take 1,000 ms, minus the first delivery's longer way.
    expect(shop.arrivals.at(-1)! - shop.arrivals[0]!).toBeGreaterThan(500);
  });

  it.each<[string, (url: string) => string, Record<string, string>, RegExp]>([
    ['secret', (url) => url, { WEBHOOK_SECRET: `${SECRET}-of-old` }, /order-1 +401 .*\n\n0 of 2/],
    ['path', (url) => `${url}s`, {}, /order-1 +404 .*\n\n0 of 2/],
  ])('stops at the first answer if the %s is wrong', async (_, at, wrong, answer) => {
    const shop = await openShop();
    for (const reference of ['order-1', 'order-2']) await shop.deliver(reference);
    await shop.expectKept(2);
    const to = at(shop.url);
    const result = await paylink(['inbox', 'replay', '--to', to], { env: { ...env, ...wrong } });
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(answer);
    expect(result.stdout).toContain('the other 1 would fail alike');
  });

  it('stops after three deliveries in a row get no answer', async () => {
    const shop = await openShop();
    for (const number of [1, 2, 3, 4]) await shop.deliver(`order-${number}`);
    await shop.expectKept(4);
    const result = await paylink(['inbox', 'replay', '--to', 'http://127.0.0.1:9/'], { env });
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(/order-3 +no answer .*refuses port.*\n\n0 of 4/);
    expect(result.stdout).toContain('the other 1 would fail alike');
  });

  it('continues if a connection breaks after the order was credited', async () => {
    const shop = await openShop();
    for (const number of [1, 2, 3]) await shop.deliver(`order-${number}`);
    await shop.expectKept(3);
    shop.isBroken = false;
    const { payments } = shop;
    let isFirst = true;
    const url = await serve((req, res) => {
      void req.toArray().then(async (chunks) => {
        const { reference } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as {
          reference: string;
        };
        await payments.reconcile([reference]);
        if (isFirst) res.destroy();
        else res.end('{"received":true}');
        isFirst = false;
      });
    });
    const result = await paylink(['inbox', 'replay', '--to', url], { env });
    expect(result.stdout).toMatch(/order-1 +no answer [^]*order-3 +200 .*\n\n3 of 3 accepted\n$/);
    expect(result.code).toBe(0);
    expect(await creditsOf()).toEqual({ 1: 3 });
  });

  it('exits with 1 if it stopped before the last delivery', async () => {
    const shop = await openShop();
    for (const number of [1, 2]) await shop.deliver(`order-${number}`);
    await shop.expectKept(2);
    shop.isBroken = false;
    const url = await serve((_req, res) => {
      void shop.payments.reconcile(['order-1']).then(() => {
        res.writeHead(401).end('{"error":"invalid_signature"}');
      });
    });
    const result = await paylink(['inbox', 'replay', '--to', url], { env });
    expect(result.stdout).toContain('the other 1 would fail alike');
    expect(result.code).toBe(1);
  });

  it('requires --allow-http to send to another machine over http', async () => {
    const replay = (...more: string[]) =>
      paylink(['inbox', 'replay', '--to', 'http://shop.example/webhook', ...more], { env });
    const refused = await replay();
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('or --allow-http');
    expect((await replay('--allow-http')).code).toBe(0);
  });

  it('selects one order by --reference and one merchant by --tenant', async () => {
    const [north, single] = [await openShop('north'), await openShop()];
    for (const reference of ['order-1', 'order-2']) await north.deliver(reference);
    await single.deliver('order-3');
    await single.expectKept(3);
    north.isBroken = false;
    single.isBroken = false;
    const replay = (to: string, ...more: string[]) =>
      paylink(['inbox', 'replay', '--to', to, ...more], { env });

    const one = await replay(north.url, '--tenant', 'north', '--reference', 'order-2');
    expect(one.stdout).toMatch(/^ *order-2 +200 .*\n\n1 of 1 accepted\n$/);
    const own = await replay(single.url);
    expect(own.stdout).toMatch(/^ *order-3 +200 .*\n\n1 of 1 accepted\n$/);
    expect(own.stderr).toContain('1 more belong to other merchants: select one with --tenant');
    await replay(north.url, '--tenant', 'north');
    await single.expectKept(0);
  });

  it('sends the stored bytes under the stored event kind', async () => {
    const rawBody = Buffer.from('{ "reference" : "order-1",\n "é": 1e3 }\n');
    const { inbox } = postgresStore(pool, { inbox: true });
    const kind = 'payment.refunded';
    const facts = { kind, reference: 'order-1', tenant: undefined, code: 'handler_failed' };
    await inbox!.keep({ key: 'any', ...facts, rawBody });
    const received: unknown[] = [];
    const url = await serve((req, res) => {
      void req.toArray().then((chunks) => {
        received.push(req.headers['x-service-event'], Buffer.concat(chunks as Buffer[]));
        res.end('{"received":true}');
      });
    });
    expect((await paylink(['inbox', 'replay', '--to', url], { env })).code).toBe(0);
    expect(received).toEqual([kind, rawBody]);
  });
});

describe('a replay that another delivery overtakes', () => {
  const keep = async (reference: string) => {
    const { inbox } = postgresStore(pool, { inbox: true });
    const { key } = await identify({ kind: 'payment.succeeded', reference });
    const facts = { kind: 'payment.succeeded', reference, tenant: undefined, code: 'no' };
    await inbox!.keep({ key, ...facts, rawBody: Buffer.from(JSON.stringify({ reference })) });
    return () => pool.query("INSERT INTO paylink_marks VALUES (decode($1, 'hex'))", [key]);
  };

  it('succeeds although the server answers 503 in_progress', async () => {
    const markIt = await keep('order-1');
    const url = await serve((_req, res) => {
      void markIt().then(() => res.writeHead(503).end('{"error":"in_progress"}'));
    });
    const result = await paylink(['inbox', 'replay', '--to', url], { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/order-1 +503 .*in_progress\n\n1 of 1 accepted\n$/);
  });

  it('is distinguished from a page that answers every request with 200', async () => {
    await keep('order-1');
    const url = await serve((_req, res) => {
      res.setHeader('content-type', 'text/html').end('<!doctype html><title>Shop</title>');
    });
    const { stdout } = await paylink(['inbox', 'replay', '--to', url], { env });
    expect(stdout).toContain('1 of 1 accepted\n1 accepted, but still in the inbox: a queue holds');
    expect(stdout).toContain('it looks like a page, perhaps of a catch-all route');
  });
});

describe('paylink inbox', () => {
  it('refuses to sign deliveries of a database that only .env names for another machine', async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, '.env'), `DATABASE_URL=${server.url}\n`);
    const replay = (to: string, ...more: string[]) =>
      paylink(['inbox', 'replay', '--to', to, ...more], { cwd, env: { WEBHOOK_SECRET: SECRET } });
    const refused = await replay('https://shop.example/webhook');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/only this folder.s \.env names\n.*--dotenv \.env/);
    const secretFile = join(newFolder(), 'secret');
    writeFileSync(secretFile, SECRET);
    writeFileSync(join(cwd, '.env'), `DATABASE_URL=${server.url}\nWEBHOOK_SECRET=${SECRET}-else\n`);
    expect(
      (
        await paylink(
          ['inbox', 'replay', '--to', 'https://shop.example/', '--secret-file', secretFile],
          { cwd },
        )
      ).code,
    ).toBe(2);
    writeFileSync(join(cwd, '.env'), `DATABASE_URL=${server.url}\n`);
    const allowed = ['--dotenv', '.env'];
    expect((await replay('https://shop.example/webhook', ...allowed)).code).toBe(0);
    expect((await replay('http://127.0.0.1/webhook')).code).toBe(0);
  });

  it('lists and shows deliveries without their bodies', async () => {
    const shop = await openShop();
    await shop.deliver('order-1');
    await shop.deliver('order-1');
    await vi.waitFor(async () =>
      expect(await shop.store.inbox!.list()).toMatchObject([{ attempts: 2 }]),
    );
    const listed = await paylink(['inbox', 'list'], { env });
    expect(listed.stdout).toMatch(
      /handler_failed +2 attempts +payment\.succeeded +order-1\n\n1 failed\. paylink inbox replay/,
    );
    const body = JSON.stringify({ reference: 'order-1' });
    const [record] = recordsOf(await paylink(['inbox', 'list', '--json'], { env }));
    expect(record).toMatchObject({ reference: 'order-1', tenant: null, size: body.length });
    const shown = await paylink(['inbox', 'show', 'order-1'], { env });
    expect(shown.stdout).toMatch(/Attempts +2\n.*Body +23 bytes, SHA-256 [0-9a-f]{64}\n/s);
    const byKey = await paylink(['inbox', 'show', String(record!['key'])], { env });
    expect(byKey.stdout).toBe(shown.stdout);
    for (const { stdout } of [listed, shown]) expect(stdout).not.toContain(body);
    const none = await paylink(['inbox', 'show', 'order-2'], { env });
    expect(none).toMatchObject({ code: 1, stdout: '' });
  });

  it('forgets deliveries that last failed before a date', async () => {
    const shop = await openShop();
    await shop.deliver('order-1');
    await shop.expectKept(1);
    const forget = (age: string) => paylink(['inbox', 'forget', '--older-than', age], { env });
    expect((await forget('12h')).stdout).toBe('0 deliveries deleted\n');
    await pool.query("UPDATE paylink_marks_inbox SET last_failed_at = now() - interval '1 day'");
    expect((await forget('12h')).stdout).toBe('1 delivery deleted\n');
    expect((await paylink(['inbox', 'list'], { env })).stdout).toBe('The inbox is empty.\n');
  });

  it.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'DATABASE_URL is missing',
      ['list'],
      { DATABASE_URL: '' },
      /your PostgreSQL address is missing\n.*DATABASE_URL/,
    ],
    [
      'the store has no inbox',
      ['list', '--marks-table', 'public.other'],
      {},
      /has no inbox\n.*inbox: true/,
    ],
    ['--to is missing', ['replay'], {}, /no --to: give your server/],
    [
      'no secret',
      ['replay', '--to', 'http://127.0.0.1/'],
      { WEBHOOK_SECRET: '' },
      /no webhook sec/,
    ],
    [
      '--tenant must not be empty',
      ['replay', '--to', 'http://127.0.0.1/', '--tenant', ''],
      {},
      /--tenant must not be empty/,
    ],
    ['--older-than is missing', ['forget'], {}, /no --older-than\n.*30d/],
    [
      '--older-than has another form',
      ['forget', '--older-than', '1 year'],
      {},
      /It must be days or hours: 30d, 12h/,
    ],
  ])('exits with 2 and a remedy if %s', async (_, args, wrong, message) => {
    const options = { env: { ...env, ...wrong }, cwd: newFolder() };
    const result = await paylink(['inbox', ...args], options);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
