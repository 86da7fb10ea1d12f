import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { close, listen } from '../src/listen.js';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { createClient, type PaylinkClient } from '@paylink/client';
import type { Payments } from '@paylink/payments';
import { testOrders } from '@paylink/testing';
import { openDatabase, type Db } from '../src/database.js';
import { ShopOrders } from '../src/orders.js';
import { openPayments, ordersIn } from '../src/payments.js';
import { BASKET } from '../src/product.js';
import { startSchedule } from '../src/schedule.js';
import { createShop } from '../src/shop.js';
import { bundleScript, type Bundle } from '../../../test/servers/bundle.js';

const SECRET = 'a-secret-of-the-shops-test';

let db: Db;
let orders: ShopOrders;
let server: Server;
let url: string;
let emulator: Emulator;
let paylink: PaylinkClient;
let payments: Payments;

beforeAll(async () => {
  db = openDatabase(':memory:');
  orders = new ShopOrders(db);
  ({ server, url } = await listen(0));
  emulator = await startEmulator();
  const { baseUrl, apiKey, payUrl } = emulator;
  paylink = createClient({ baseUrl, apiKey });
  payments = openPayments(paylink, ordersIn(db));
  const options = { orders, payments, paylink, shopUrl: url, payUrl, webhookSecret: SECRET };
  server.on('request', createShop(options));
}, 30_000);

afterAll(async () => {
  await close(server);
  await emulator.close();
  db.close();
});

/** Inserts an order, and returns it with its payment. */
async function order(payment: 'pending' | 'success' = 'success'): Promise<string> {
  const reference = orders.create(BASKET.id, BASKET.name.en, BASKET.price);
  const { url: payUrl } = await paylink.createPaymentLink({ amount: 15_000, reference });
  orders.setPayUrl(reference, payUrl);
  if (payment === 'success') await emulator.pay(reference);
  return reference;
}

/** Returns the pay page of the order's payment. */
async function paylinkUrl(reference: string): Promise<string> {
  const link = await paylink.createPaymentLink({ amount: 15_000, reference: `${reference}-page` });
  return link.url;
}

test('the schedule continues where its last run stopped', async () => {
  const report = { ...(await payments.reconcile([])), cursor: '7:order-7' };
  const cursors: (string | undefined)[] = [];
  let stop!: () => Promise<void>;
  await new Promise<void>((resolve) => {
    const reconcile: Payments['reconcile'] = async (_references, options) => {
      if (cursors.push(options?.cursor) === 2) resolve();
      return report;
    };
    stop = startSchedule({ ...payments, reconcile }, 1);
  });
  await stop();
  expect(cursors.slice(0, 2)).toEqual([undefined, '7:order-7']);
});

function notify(
  body: string,
  signature = createHmac('sha256', SECRET).update(body).digest('hex'),
): Promise<Response> {
  const headers = { 'X-Service-Event': 'payment.succeeded', 'X-Service-Signature': signature };
  return fetch(`${url}/webhooks/payments`, { method: 'POST', headers, body });
}

describe('the webhook', () => {
  it('credits once for ten deliveries at once, with the amount of the shop', async () => {
    const reference = await order();
    const body = JSON.stringify({ reference, amount: 1 });
    const responses = await Promise.all(Array.from({ length: 10 }, () => notify(body)));
    expect(responses.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
    expect(orders.find(reference)).toMatchObject({
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
    const reference = orders.create(BASKET.id, BASKET.name.en, BASKET.price);
    expect((await notify(JSON.stringify({ reference }), 'f'.repeat(64))).status).toBe(401);
    expect(orders.find(reference)).toMatchObject({ isPaid: false, credits: { count: 0 } });
  });

  it('credits nothing that the service does not confirm', async () => {
    const reference = await order('pending');
    const response = await notify(JSON.stringify({ reference }));
    expect([response.status, await response.json()]).toEqual([503, { error: 'payment_pending' }]);
    expect(orders.find(reference)).toMatchObject({ isPaid: false, credits: { count: 0 } });
  });

  it('leaves an order unpaid if its books cannot be written, and credits at the retry', async () => {
    const reference = await order();
    db.exec('ALTER TABLE credits RENAME TO credits_away');
    expect((await notify(JSON.stringify({ reference }))).status).toBe(503);
    expect(orders.find.bind(orders, reference)).toThrow();
    db.exec('ALTER TABLE credits_away RENAME TO credits');
    expect(orders.find(reference)).toMatchObject({ isPaid: false });
    expect((await notify(JSON.stringify({ reference }))).status).toBe(200);
    expect(orders.find(reference)).toMatchObject({
      isPaid: true,
      credits: { count: 1, total: 15_000 },
    });
  });
});

describe('the orders', () => {
  const own = openDatabase(':memory:');
  const addLink = (reference: string, order: string, number: number): unknown =>
    own
      .prepare('INSERT INTO attempts (reference, order_id, number) VALUES (?, ?, ?)')
      .run(reference, order, number);
  testOrders({
    orders: ordersIn(own),
    test,
    createOrder: async ({ reference, amount, currency }) => {
      own
        .prepare("INSERT INTO orders VALUES (?, '', '', ?, ?, NULL)")
        .run(reference, amount, currency);
      addLink(reference, reference, 1);
    },
    effects: async (reference) => new ShopOrders(own).find(reference)!.credits.count,
    later: {
      ships: async (reference) => {
        own.prepare("UPDATE orders SET product = 'shipped' WHERE id = ?").run(reference);
      },
      'another link'(reference) {
        addLink(`${reference} again`, reference, 2);
        return `${reference} again`;
      },
    },
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
    expect(orders.find(reference)).toMatchObject({ isPaid: true, credits });
    expect((await payments.reconcile([reference])).paid.references).toEqual([reference]);
  });

  it('are told apart in the book of credits', async () => {
    const [first, second, third] = [await order(), await order(), await order()];
    await notify(JSON.stringify({ reference: first }));
    await payments.settle(second);
    await payments.reconcile();
    const books = [first, second, third].map((one) => orders.find(one));
    expect(books.map((book) => book?.credits.by)).toEqual(['webhook', 'settle', 'reconcile']);
  });
});

describe('a customer who tries again', { tags: 'Q14' }, () => {
  const press = (reference: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/orders/${reference}/attempts`, { method: 'POST', redirect: 'manual', headers });
  const addressOf = (response: Response): string => response.headers.get('location')!;
  const referencesOf = (reference: string): string[] =>
    orders.find(reference)!.attempts.map((attempt) => attempt.reference);
  const unpaidLinks = async (): Promise<string[]> => {
    const all: string[] = [];
    for await (const one of await ordersIn(db).unpaid!({
      tenant: null,
      signal: AbortSignal.timeout(5_000),
    }))
      all.push(one);
    return all;
  };

  it.each(['fail', 'cancel'] as const)('pays the same order by another link: %s', async (end) => {
    const first = await order('pending');
    await emulator[end](first);
    const { id } = orders.find(first)!;
    const payUrl = addressOf(await press(first));
    const [second = '', ...others] = referencesOf(first);
    expect(others).toEqual([first]);
    expect(payUrl).toMatch(/\/link\//);
    expect(orders.find(second)).toMatchObject({ id, attempts: [{ payUrl }, {}] });
    // The pages of both links show the one payment page.
    for (const reference of [first, second]) {
      const markup = await (await fetch(`${url}/orders/${reference}`)).text();
      expect(markup.match(/\/link\/[^"]+/g)).toEqual([new URL(payUrl).pathname]);
      expect(markup).not.toContain('<form');
    }
    await emulator.pay(second);
    expect((await notify(JSON.stringify({ reference: second }))).status).toBe(200);
    expect(orders.find(first)).toMatchObject({ id, isPaid: true, credits: { count: 1 } });
  });

  it('gets one link for eight presses at once', async () => {
    const first = await order('pending');
    await emulator.fail(first);
    const pressed = await Promise.all(Array.from({ length: 8 }, () => press(first)));
    expect(pressed.map(({ status }) => status)).toEqual(Array<number>(8).fill(303));
    expect(referencesOf(first)).toHaveLength(2);
    const addresses = new Set(pressed.map(addressOf).filter((to) => to.includes('/link/')));
    expect([...addresses]).toEqual([orders.find(first)!.attempts[0].payUrl]);
  });

  it.each(['pending', 'success'] as const)(
    'gets no other link while one of its links is %s',
    async (status) => {
      const first = await order('pending');
      await emulator.fail(first);
      // The page that the customer still has open offers another try.
      expect(await (await fetch(`${url}/orders/${first}`)).text()).toContain('/attempts"');
      if (status === 'success') await emulator.pay(first);
      else await press(first);
      const before = referencesOf(first);
      expect(addressOf(await press(first))).toBe(`/orders/${before[0]}`);
      expect(referencesOf(first)).toEqual(before);
    },
  );

  it('gets no other link from a service that does not answer', async () => {
    const first = await order('pending');
    await emulator.fail(first);
    const gone = await listen(0);
    await close(gone.server);
    const away = createClient({ baseUrl: gone.url, apiKey: emulator.apiKey, retries: 0 });
    const other = await listen(0);
    const options = { orders, payments, shopUrl: other.url, webhookSecret: SECRET };
    other.server.on('request', createShop({ ...options, paylink: away, payUrl: emulator.payUrl }));
    const to = `${other.url}/orders/${first}/attempts`;
    const pressed = await fetch(to, { method: 'POST', redirect: 'manual' });
    expect([pressed.status, addressOf(pressed)]).toEqual([303, `/orders/${first}`]);
    expect(referencesOf(first)).toEqual([first]);
    await close(other.server);
  });

  it('gets the link of the first attempt if that link could not be created', async () => {
    const first = orders.create(BASKET.id, BASKET.name.en, BASKET.price);
    const page = await fetch(`${url}/orders/${first}`, { headers: { 'Accept-Language': 'en' } });
    expect(await page.text()).toMatch(/could not open the payment page.*Try again<\/button>/s);
    const payUrl = addressOf(await press(first));
    expect(orders.find(first)!.attempts).toEqual([{ reference: first, payUrl }]);
    expect((await press('nobody')).status).toBe(404);
    expect((await press(first, { Origin: 'https://evil.example' })).status).toBe(403);
  });

  it('is credited once for two paid links: the second gets 409, and a person decides', async () => {
    const first = await order('pending');
    await emulator.fail(first);
    await press(first);
    const [second = ''] = referencesOf(first);
    await emulator.pay(second);
    await emulator.pay(first);
    expect((await notify(JSON.stringify({ reference: second }))).status).toBe(200);
    const again = await notify(JSON.stringify({ reference: first }));
    expect([again.status, await again.json()]).toEqual([409, { error: 'order_closed' }]);
    expect(orders.find(first)).toMatchObject({ isPaid: true, credits: { count: 1 } });
    expect(await unpaidLinks()).toContain(first);
    const { undecided } = await payments.reconcile();
    expect(undecided.references).toContain(first);
    expect(undecided.references).not.toContain(second);
    expect((await payments.verify([first, second])).confirmed.references).toEqual([second]);
  });

  it('pays the order by the first link too', async () => {
    const first = await order('pending');
    await emulator.fail(first);
    await press(first);
    await emulator.pay(first);
    const markup = await (await fetch(`${url}/orders/${first}?from=payment`)).text();
    expect(markup).toContain('class="state paid"');
    expect(orders.find(first)).toMatchObject({ isPaid: true, credits: { count: 1, by: 'settle' } });
    // No payment page is offered any more.
    const [second = ''] = referencesOf(first);
    expect(await (await fetch(`${url}/orders/${second}`)).text()).not.toMatch(/\/link\/|<form/);
  });
});

describe('the pages', () => {
  it('escape what they show, load nothing, and have an icon', async () => {
    const reference = orders.create('<script>alert("1")</script>', '', BASKET.price);
    const response = await fetch(`${url}/orders/${reference}`);
    const markup = await response.text();
    expect(markup).toContain('&lt;script&gt;alert(&quot;1&quot;)');
    expect(markup).not.toMatch(/<script>alert|\bsrc=|http-equiv/);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(markup).toContain('<link rel="icon" href="data:image/svg+xml,');
    expect((await fetch(`${url}/orders/nobody`)).status).toBe(404);
  });

  async function pageOf(reference: string, query = '', language = 'en'): Promise<string> {
    const headers = { 'Accept-Language': language };
    return (await fetch(`${url}/orders/${reference}${query}`, { headers })).text();
  }

  it('credit a paid order at once if the notification is late, and the notification is then a duplicate', async () => {
    const paid = await order();
    expect(await pageOf(paid, '?from=payment')).toMatch('class="state paid">Paid<');
    expect(orders.find(paid)).toMatchObject({ credits: { count: 1, by: 'settle' } });
    expect((await notify(JSON.stringify({ reference: paid }))).status).toBe(200);
    expect(orders.find(paid)?.credits.count).toBe(1);
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
    db.prepare('UPDATE orders SET amount = 1 WHERE id = ?').run(orders.find(changed)!.id);
    for (const query of ['', '?from=payment']) {
      expect(await pageOf(changed, query)).toContain('you need not pay again');
      expect(await pageOf(changed, query)).not.toMatch(/Not paid|Pay now|amount_differs/);
    }
  });

  it('say that a payment failed, and offer one button: another try of the same order', async () => {
    const failed = await order('pending');
    await emulator.fail(failed);
    const markup = await pageOf(failed, '?from=payment');
    expect(markup).toMatch(/The payment failed.*You were not charged.*Try again<\/button>/s);
    expect(markup).not.toMatch(/\/link\/|order again|new order|href="\/">(?!Baobab)/);
    expect(await pageOf(failed, '', 'fr')).toMatch(/Le paiement a échoué.*Réessayer<\/button>/s);
  });

  it('say that the shop is checking within four seconds if the service hangs, and nothing of the cause', async () => {
    const hanging = await listen(0);
    const client = createClient({ baseUrl: hanging.url, apiKey: emulator.apiKey });
    const slow = await listen(0);
    const clients = { paylink: client, payments: openPayments(client, ordersIn(db)) };
    const addresses = { shopUrl: slow.url, payUrl: emulator.payUrl };
    const options = { orders, ...clients, ...addresses, webhookSecret: SECRET };
    slow.server.on('request', createShop(options));
    const pending = await order('pending');
    const started = performance.now();
    const headers = { 'Accept-Language': 'en' };
    const response = await fetch(`${slow.url}/orders/${pending}?from=payment`, { headers });
    const markup = await response.text();
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(markup).toContain('We are checking your payment');
    expect(markup).not.toMatch(/unavailable|timeout|127\.0\.0\.1:/);
    await close(slow.server);
    await close(hanging.server);
  }, 15_000);

  it('are in one language, also for an order that was placed in another', async () => {
    const pending = await order('pending');
    expect(await pageOf(pending, '', 'fr')).toContain('<h1>Panier tressé</h1>');
    expect(await pageOf(pending, '', 'en')).toContain('<h1>Woven basket</h1>');
  });

  it('lead from a cancelled payment to another try, and not back to the payment page', async () => {
    const reference = await order('pending');
    expect(await pageOf(reference)).toMatch(
      /Not paid yet.*href="http:\/\/127.0.0.1:\d+\/link\/[^"]+">Pay now/s,
    );
    await emulator.cancel(reference);
    // A page reuses the answer of the service for a moment.
    await expect
      .poll(() => pageOf(reference), { timeout: 5_000 })
      .toMatch(/class="state cancelled"/);
    const markup = await pageOf(reference);
    expect(markup).toMatch(/You cancelled this payment.*Try again<\/button>/s);
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
  let demo: Bundle;
  beforeAll(async () => {
    demo = await bundleScript(new URL('../src/demo.ts', import.meta.url));
  });
  afterAll(() => demo.remove());

  const run = (env: Record<string, string>): Promise<{ code: number; output: string }> =>
    new Promise((resolve) => {
      const options = { env: { ...process.env, ...env } };
      execFile(process.execPath, [demo.path, '--exit'], options, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });

  it('drives a purchase and its frauds unattended, and ends with 0', async () => {
    const { code, output } = await run({});
    expect(output).toContain('Everything came out as it should');
    expect(output.match(/Refused \(401\)/g)).toHaveLength(4);
    expect(output).toMatch(/It says “Paid” after \d+ ms\. Credited/);
    expect(output).toContain('The schedule of the shop asks the service');
    expect(output.match(/acknowledged \(200\), and still one credit/g)).toHaveLength(2);
    expect(output).toContain('The customer paid that link. Credited');
    expect(output).toContain('409 (order_closed), and the order has still one credit');
    expect(output).toContain('Both agree, so only `credit` is left');
    expect(output).toContain('The three orders are credited, once each');
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
