import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { close, listen } from '../../examples/shop/src/listen.js';
import { openDatabase } from '../../examples/shop/src/database.js';
import { ShopOrders } from '../../examples/shop/src/orders.js';
import { openPayments, ordersIn } from '../../examples/shop/src/payments.js';
import { createShop } from '../../examples/shop/src/shop.js';
import { findings } from './axe.js';
import { describeInChromium, openChromium } from './chromium.js';
import { DESKTOP, newCustomer, PHONE, type Customer } from './customer.js';

/** A folder for screenshots to look at. */
const PICTURES = process.env['PAYLINK_SHOP_PICTURES'];

describeInChromium('the demo shop in Chromium', () => {
  let browser: Browser;
  let emulator: Emulator;
  let orders: ShopOrders;
  let shopUrl: string;
  let customer: Customer;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    browser = await openChromium();
    const { server, url } = await listen(0);
    shopUrl = url;
    const db = openDatabase(':memory:');
    emulator = await startEmulator({
      webhook: { url: `${url}/webhooks/payments` },
      assumed: { firstRetryDelay: 20 },
    });
    const { baseUrl, apiKey, payUrl, webhookSecret } = emulator;
    const paylink = createClient({ baseUrl, apiKey });
    orders = new ShopOrders(db);
    const payments = openPayments(paylink, ordersIn(db));
    const options = { orders, payments, paylink, shopUrl, payUrl, webhookSecret };
    server.on('request', createShop(options));
    closing.push(
      () => close(server),
      () => emulator.close(),
      () => browser.close(),
      async () => void db.close(),
    );
  }, 60_000);
  afterAll(async () => {
    for (const step of closing) await step();
  });
  afterEach(async () => {
    await customer.leave();
    expect(customer.complaints).toEqual([]);
  });

  /** Checks the page on a phone and on a desktop. */
  async function look(name: string): Promise<void> {
    for (const viewport of [PHONE, DESKTOP]) {
      await customer.page.setViewportSize(viewport);
      expect(await findings(customer.page)).toEqual([]);
      if (PICTURES !== undefined)
        await customer.page.screenshot({
          path: `${PICTURES}/${name}-${viewport.width}.png`,
          fullPage: true,
        });
    }
    await customer.page.setViewportSize(PHONE);
  }

  const TEXTS = [
    [
      'en-GB',
      'light',
      {
        buy: 'Buy',
        pay: /^Pay/,
        confirming: 'Confirming your payment…',
        paid: 'Paid',
        failed: 'The payment failed',
        again: 'Try again',
      },
    ],
    [
      'fr-CI',
      'dark',
      {
        buy: 'Acheter',
        pay: /^Payer/,
        confirming: 'Confirmation de votre paiement…',
        paid: 'Payé',
        failed: 'Le paiement a échoué',
        again: 'Réessayer',
      },
    ],
  ] as const;

  it.each(TEXTS)(
    'shows "Paid" within a second of the return while the notification is delayed: %s, %s',
    async (locale, colorScheme, texts) => {
      customer = await newCustomer(browser, { locale, colorScheme });
      const { page } = customer;
      await page.goto(shopUrl);
      await look(`product-${locale}`);
      await page.getByRole('button', { name: texts.buy }).click();
      await page.getByRole('button', { name: texts.pay }).waitFor();
      const reference = await page.getByText(/^[0-9a-f-]{36}$/).innerText();
      await emulator.pay(reference, { delivery: { delay: 3_600_000 } });
      const returned = performance.now();
      await page.goto(`${shopUrl}/orders/${reference}?from=payment`);
      await page.getByText(texts.paid, { exact: true }).waitFor();
      const milliseconds = performance.now() - returned;
      const { id, attemptCount, state } = emulator.deliveries().at(-1)!;
      expect({ attemptCount, state }).toEqual({ attemptCount: 0, state: 'pending' });
      expect(orders.find(reference)?.credits).toMatchObject({ count: 1, by: 'settle' });
      expect(milliseconds).toBeLessThan(1_000);
      expect(await page.title()).toContain(texts.paid);
      await look(`paid-${locale}`);
      expect((await emulator.redeliver(id)).response?.status).toBe(200);
      expect(orders.find(reference)?.credits.count).toBe(1);
    },
    60_000,
  );

  it.each(TEXTS)(
    'confirms a late payment without a reload: %s, %s',
    async (locale, colorScheme, texts) => {
      customer = await newCustomer(browser, { locale, colorScheme });
      const { page } = customer;
      await page.goto(shopUrl);
      await page.getByRole('button', { name: texts.buy }).click();
      await page.getByRole('button', { name: texts.pay }).waitFor();
      const reference = await page.getByText(/^[0-9a-f-]{36}$/).innerText();
      // The customer returns before the service has the money.
      await page.goto(`${shopUrl}/orders/${reference}?from=payment`);
      await page.getByText(texts.confirming, { exact: true }).waitFor();
      await look(`confirming-${locale}`);
      await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));
      await emulator.pay(reference);
      await page.getByText(texts.paid, { exact: true }).waitFor();
      expect(await page.evaluate(() => 'sameDocument' in globalThis)).toBe(true);
      expect(await page.title()).toContain(texts.paid);
    },
    60_000,
  );

  it.each(TEXTS)(
    'leads a customer whose payment failed to another link of the same order: %s, %s',
    async (locale, colorScheme, texts) => {
      customer = await newCustomer(browser, { locale, colorScheme });
      const { page } = customer;
      await page.goto(shopUrl);
      await page.getByRole('button', { name: texts.buy }).click();
      await page.getByRole('button', { name: texts.pay }).waitFor();
      const first = await page.getByText(/^[0-9a-f-]{36}$/).innerText();
      await emulator.fail(first);
      await page.goto(`${shopUrl}/orders/${first}?from=payment`);
      await page.getByText(texts.failed, { exact: true }).waitFor();
      await look(`failed-${locale}`);
      // One way to pay: two at once would take the money twice.
      expect(await page.locator('main a').count()).toBe(0);
      expect(await page.getByRole('button').count()).toBe(1);
      const id = await page.getByText(/^[0-9a-f-]{36}$/).innerText();
      await page.getByRole('button', { name: texts.again }).click();
      await page.getByRole('button', { name: texts.pay }).waitFor();
      expect(await page.getByText(/^[0-9a-f-]{36}$/).innerText()).not.toBe(first);
      await page.getByRole('button', { name: texts.pay }).click();
      await page.getByText(texts.paid, { exact: true }).waitFor();
      expect(await page.getByText(/^[0-9a-f-]{36}$/).innerText()).toBe(id);
      expect(orders.find(first)).toMatchObject({ id, isPaid: true, credits: { count: 1 } });
    },
    60_000,
  );

  it('leads a customer who cancels to another try, and not to the cancelled payment page', async () => {
    customer = await newCustomer(browser);
    const { page } = customer;
    await page.goto(shopUrl);
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await look('cancelled');
    expect(await page.locator('a[href*="/link/"]').count()).toBe(0);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.getByText('Paid', { exact: true }).waitFor();
  }, 60_000);

  it('shows "Paid" without JavaScript', async () => {
    customer = await newCustomer(browser, { javaScriptEnabled: false });
    const { page } = customer;
    await page.goto(shopUrl);
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.waitForURL(/from=payment/);
    await page.getByText('Paid', { exact: true }).waitFor();
  }, 60_000);
});
