import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Server } from 'node:http';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { close, listen } from '../src/listen.js';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { createClient, type PaylinkClient } from '@paylink/client';
import type { Inbox, Payments } from '@paylink/payments';
import { Orders } from '../src/orders.js';
import { openPayments } from '../src/payments.js';
import { BASKET } from '../src/product.js';
import { replayInbox } from '../src/replay-inbox.js';
import { createShop } from '../src/shop.js';

const SECRET = 'a-secret-of-the-shops-test';

let db: PGlite;
let orders: Orders;
let server: Server;
let url: string;
let emulator: Emulator;
let paylink: PaylinkClient;
let payments: Payments;
let inbox: Inbox;

beforeAll(async () => {
  db = new PGlite();
  orders = await Orders.open(db);
  ({ server, url } = await listen(0));
  emulator = await startEmulator();
  const { baseUrl, apiKey, payUrl } = emulator;
  paylink = createClient({ baseUrl, apiKey });
  ({ payments, inbox } = await openPayments(db, paylink));
  const options = { orders, payments, paylink, shopUrl: url, payUrl, webhookSecret: SECRET };
  server.on('request', createShop(options));
}, 30_000);

afterAll(async () => {
  await close(server);
  await emulator.close();
  await db.close();
});

/** Inserts an order, and returns it with its payment. */
async function order(payment: 'pending' | 'success' = 'success'): Promise<string> {
  const reference = await orders.create('Basket', BASKET.price);
  const { url: payUrl } = await paylink.createPaymentLink({ amount: 15_000, reference });
  await orders.setPayUrl(reference, payUrl);
  if (payment === 'success') await emulator.pay(reference);
  return reference;
}

/** Returns the pay page of the order's payment. */
async function paylinkUrl(reference: string): Promise<string> {
  const link = await paylink.createPaymentLink({ amount: 15_000, reference: `${reference}-page` });
  return link.url;
}

function notify(
  body: string,
  signature = createHmac('sha256', SECRET).update(body).digest('hex'),
): Promise<Response> {
  const headers = { 'X-Service-Event': 'payment.succeeded', 'X-Service-Signature': signature };
  return fetch(`${url}/webhooks/payments`, { method: 'POST', headers, body });
}

describe('the webhook', () => {
  it('credits once for fifty deliveries at once, with the amount of the shop', async () => {
    const reference = await order();
    const body = JSON.stringify({ reference, amount: 1 });
    const responses = await Promise.all(Array.from({ length: 50 }, () => notify(body)));
    expect(responses.map(({ status }) => status)).toEqual(Array<number>(50).fill(200));
    expect(await orders.find(reference)).toMatchObject({
      isPaid: true,
      credits: { count: 1, total: 15_000 },
    });
  });

  it('asks for an unknown order to be sent again', async () => {
    await paylink.createPaymentLink({ amount: 1, reference: 'order-of-another-shop' });
    await emulator.pay('order-of-another-shop');
    const response = await notify('{"reference":"order-of-another-shop"}');
    expect([response.status, await response.json()]).toEqual([503, { error: 'unknown_order' }]);
  });

  it('refuses a signature that is not the service’s', async () => {
    const reference = await orders.create('Basket', BASKET.price);
    expect((await notify(JSON.stringify({ reference }), 'f'.repeat(64))).status).toBe(401);
    expect(await orders.find(reference)).toMatchObject({ isPaid: false, credits: { count: 0 } });
  });

  it('credits nothing that the service does not confirm', async () => {
    const reference = await order('pending');
    const response = await notify(JSON.stringify({ reference }));
    expect([response.status, await response.json()]).toEqual([503, { error: 'payment_pending' }]);
    expect(await orders.find(reference)).toMatchObject({ isPaid: false, credits: { count: 0 } });
  });

  it('leaves an order unpaid when the credit cannot be written, and credits it at the retry', async () => {
    const reference = await order();
    await db.query("INSERT INTO credits VALUES ($1, 1, 'hand')", [reference]);
    expect((await notify(JSON.stringify({ reference }))).status).toBe(500);
    expect(await orders.find(reference)).toMatchObject({ isPaid: false });
    await db.query('DELETE FROM credits WHERE reference = $1', [reference]);
    expect((await notify(JSON.stringify({ reference }))).status).toBe(200);
    expect(await orders.find(reference)).toMatchObject({
      isPaid: true,
      credits: { count: 1, total: 15_000 },
    });
  });
});

describe('the inbox', () => {
  it('replays three orders whose credit was broken, and credits each once', async () => {
    await db.query('TRUNCATE paylink_marks_inbox');
    const references = [await order(), await order(), await order()];
    const setCurrency = 'UPDATE orders SET currency = $2 WHERE reference = ANY ($1)';
    await db.query(setCurrency, [references, 'EUR']);
    for (const reference of references) {
      expect((await notify(JSON.stringify({ reference }))).status).toBe(409);
    }
    const listed = async () => (await inbox.list()).map(({ reference, code }) => [reference, code]);
    const failed = references.map((reference) => [reference, 'amount_differs']);
    await vi.waitFor(async () => expect(await listed()).toEqual(failed));

    await db.query(setCurrency, [references, 'XOF']);
    const webhook = { url: `${url}/webhooks/payments`, secret: SECRET };
    expect(await replayInbox(inbox, webhook)).toEqual([200, 200, 200]);
    expect([await listed(), await replayInbox(inbox, webhook)]).toEqual([[], []]);
    for (const reference of references) {
      const credits = { count: 1, total: 15_000, by: 'webhook' };
      expect(await orders.find(reference)).toMatchObject({ isPaid: true, credits });
    }
  });
});

describe('the three ways', () => {
  it('credit once if the notification, the page and the schedule come at the same moment', async () => {
    const reference = await order();
    await Promise.all([
      ...Array.from({ length: 5 }, () => notify(JSON.stringify({ reference }))),
      ...Array.from({ length: 5 }, () => fetch(`${url}/orders/${reference}?from=payment`)),
      payments.reconcile([reference]),
    ]);
    const credits = { count: 1, total: 15_000 };
    expect(await orders.find(reference)).toMatchObject({ isPaid: true, credits });
    expect((await payments.reconcile([reference])).duplicates).toEqual([reference]);
  });

  it('are told apart in the book of credits', async () => {
    const [first, second, third] = [await order(), await order(), await order()];
    await notify(JSON.stringify({ reference: first }));
    await payments.settle(second);
    await payments.reconcile(await orders.unpaid());
    const books = await Promise.all([first, second, third].map((one) => orders.find(one)));
    expect(books.map((book) => book?.credits.by)).toEqual(['webhook', 'settle', 'reconcile']);
  });
});

describe('the pages', () => {
  it('escape what they show, load nothing, and have an icon', async () => {
    const reference = await orders.create('<script>alert("1")</script>', BASKET.price);
    const response = await fetch(`${url}/orders/${reference}`);
    const markup = await response.text();
    expect(markup).toContain('&lt;script&gt;alert(&quot;1&quot;)');
    expect(markup).not.toMatch(/<script>alert|\bsrc=|http-equiv/);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(markup).toContain('<link rel="icon" href="data:image/svg+xml,');
    expect((await fetch(`${url}/orders/nobody`)).status).toBe(404);
  });

  const pageOf = async (reference: string, query = '', language = 'en'): Promise<string> =>
    (
      await fetch(`${url}/orders/${reference}${query}`, {
        headers: { 'Accept-Language': language },
      })
    ).text();

  it('credit a paid order at once if the notification is late, and the notification is then a duplicate', async () => {
    const paid = await order();
    expect(await pageOf(paid, '?from=payment')).toMatch(/class="state paid">Paid<.*15,000, once/s);
    expect(await orders.find(paid)).toMatchObject({ credits: { count: 1, by: 'settle' } });
    expect((await notify(JSON.stringify({ reference: paid }))).status).toBe(200);
    expect((await orders.find(paid))?.credits.count).toBe(1);
    expect(await pageOf(paid, '', 'fr')).toMatch(/class="state paid">Payé</);
  });

  it('never tell a customer who has paid that the order is not paid', async () => {
    const pending = await order('pending');
    expect(await pageOf(pending, '?from=payment')).toMatch(/Confirming your payment…/);
    expect(await pageOf(pending, '?from=payment', 'fr')).toContain(
      'Confirmation de votre paiement…',
    );
    // The order's amount changes after the payment, so the credit is refused.
    const changed = await order();
    await db.query('UPDATE orders SET amount = 1 WHERE reference = $1', [changed]);
    for (const query of ['', '?from=payment']) {
      expect(await pageOf(changed, query)).toMatch(/You need not pay again|you need not pay again/);
      expect(await pageOf(changed, query)).not.toMatch(/Not paid|Pay now/);
    }
  });

  it('lead from a cancelled payment to a new order, and not back to the payment page', async () => {
    const reference = await order('pending');
    expect(await pageOf(reference)).toMatch(
      /Not paid yet.*href="http:\/\/127.0.0.1:\d+\/link\/[^"]+">Pay now/s,
    );
    await emulator.cancel(reference);
    const markup = await pageOf(reference, '?from=cancel');
    expect(markup).toMatch(
      /You cancelled this payment\. Nothing was charged\..*href="\/">Order again/s,
    );
    expect(markup).not.toContain('/link/');
  });

  it('write amounts as the payment page does, in both languages', async () => {
    const reference = await order('pending');
    const payPage = await paylinkUrl(reference);
    for (const language of ['en', 'fr'] as const) {
      const amount = /class="amount">([^<]+)</.exec(
        await (await fetch(payPage, { headers: { 'Accept-Language': language } })).text(),
      )![1]!;
      expect(await pageOf(reference, '', language)).toContain(`<p class="price">${amount}</p>`);
    }
  });

  it('receive the credit by server-sent events, once, and no stream is open for an order that is paid', async () => {
    const reference = await order();
    const stream = await fetch(`${url}/orders/${reference}/events`);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    await notify(JSON.stringify({ reference }));
    expect((await stream.text()).match(/event: change/g)).toHaveLength(1);
    expect((await fetch(`${url}/orders/${reference}/events`)).status).toBe(204);
    expect((await fetch(`${url}/orders/nothing/events`)).status).toBe(204);
  });

  it.each([
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ])('take no order from another site: %o', async (headers) => {
    expect(
      (await fetch(`${url}/orders`, { method: 'POST', headers: headers as Record<string, string> }))
        .status,
    ).toBe(403);
  });
});

describe('the demo', () => {
  const run = (env: Record<string, string>): Promise<{ code: number | null; output: string }> =>
    new Promise((resolve, reject) => {
      const cwd = fileURLToPath(new URL('..', import.meta.url));
      const args = ['--conditions=@paylink/source', '--import', 'tsx', 'src/demo.ts', '--exit'];
      // The root's tsconfig configures the JSX in the emulator's sources.
      const tsconfig = {
        TSX_TSCONFIG_PATH: fileURLToPath(new URL('../../../tsconfig.json', import.meta.url)),
      };
      const child = spawn(process.execPath, args, {
        cwd,
        env: { ...process.env, ...tsconfig, ...env },
      });
      let output = '';
      child.stdout.on('data', (chunk) => (output += String(chunk)));
      child.stderr.on('data', (chunk) => (output += String(chunk)));
      child.once('error', reject);
      child.once('close', (code) => {
        resolve({ code, output });
      });
    });

  it('drives a purchase and its frauds unattended, and ends with 0', async () => {
    const { code, output } = await run({});
    expect(output).toContain('Everything came out as it should');
    expect(output.match(/Refused \(401\)/g)).toHaveLength(4);
    expect(output).toContain('which says: pending');
    expect(output).toMatch(/It says “Paid” after \d+ ms\. Credited/);
    expect(output).toContain('The inbox of the shop has 3 failed deliveries, amount_differs each');
    expect(output).toContain('The inbox is empty, and each order is credited once');
    expect(output).toContain('The schedule of the shop runs');
    expect(output.match(/acknowledged as a duplicate, and still one credit/g)).toHaveLength(2);
    expect(output).not.toContain('\u001B');
    expect(output).not.toContain('WEBHOOK_SECRET');
    expect(code).toBe(0);
  }, 60_000);

  it('ends with 1 and says why when it cannot start', async () => {
    const { port } = new URL(url);
    const { code, output } = await run({ PORT: port });
    expect(output).toContain(`Port ${port} is taken`);
    expect(output).toContain(`PORT=${Number(port) + 1} npm start`);
    expect(output).not.toContain('EADDRINUSE');
    expect(code).toBe(1);
  }, 60_000);
});
