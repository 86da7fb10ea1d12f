import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PGlite } from '@electric-sql/pglite';
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import type { AxeResults } from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { close, listen } from '../../examples/shop/src/listen.js';
import { Orders } from '../../examples/shop/src/orders.js';
import { createShop } from '../../examples/shop/src/shop.js';
import { describeInChromium, openChromium } from './chromium.js';
import { DESKTOP, newCustomer, PHONE, type Customer } from './customer.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** A folder for pictures, to look at by hand. */
const PICTURES = process.env['PAYLINK_SHOP_PICTURES'];

describeInChromium('the demo shop in Chromium', () => {
  let browser: Browser;
  let emulator: Emulator;
  let shopUrl: string;
  let customer: Customer;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    browser = await openChromium();
    const { server, url } = await listen(0);
    shopUrl = url;
    const db = new PGlite();
    emulator = await startEmulator({ webhook: { url: `${url}/webhooks/payments` }, assumed: { firstRetryDelay: 20 } });
    const { baseUrl, apiKey, payUrl, webhookSecret } = emulator;
    const idempotency = postgresStore(db);
    await idempotency.migrate();
    const paylink = createClient({ baseUrl, apiKey });
    server.on('request', createShop({ orders: await Orders.open(db), shopUrl, paylink, idempotency, payUrl, webhookSecret }));
    closing.push(
      () => close(server),
      () => emulator.close(),
      () => db.close(),
      () => browser.close(),
    );
  }, 60_000);
  afterAll(async () => {
    for (const step of closing) await step();
  });
  afterEach(async () => {
    await customer.leave();
    expect(customer.complaints).toEqual([]);
  });

  async function violations(): Promise<string[]> {
    await customer.page.evaluate(axe);
    const results = await customer.page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
    );
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`);
  }

  /** Looks at the page as a phone and as a desktop show it. */
  async function look(name: string): Promise<void> {
    for (const viewport of [PHONE, DESKTOP]) {
      await customer.page.setViewportSize(viewport);
      expect(await violations()).toEqual([]);
      if (PICTURES !== undefined)
        await customer.page.screenshot({ path: `${PICTURES}/${name}-${viewport.width}.png`, fullPage: true });
    }
    await customer.page.setViewportSize(PHONE);
  }

  it.each([
    ['en-GB', 'light', { buy: 'Buy', pay: /^Pay/, confirming: 'Confirming your payment…', paid: 'Paid' }],
    ['fr-CI', 'dark', { buy: 'Acheter', pay: /^Payer/, confirming: 'Confirmation de votre paiement…', paid: 'Payé' }],
  ] as const)(
    'confirms a payment live, without a reload: %s, %s',
    async (locale, colorScheme, texts) => {
      customer = await newCustomer(browser, { locale, colorScheme });
      const { page } = customer;
      const end = emulator.disturb({ kind: 'delay', delay: 3_600_000, count: 1 });
      await page.goto(shopUrl);
      await look(`product-${locale}`);
      await page.getByRole('button', { name: texts.buy }).click();
      await page.getByRole('button', { name: texts.pay }).click();
      await page.getByText(texts.confirming, { exact: true }).waitFor();
      await look(`confirming-${locale}`);
      await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));
      await emulator.redeliver(emulator.deliveries().at(-1)!.id);
      await page.getByText(texts.paid, { exact: true }).waitFor();
      expect(await page.evaluate(() => 'sameDocument' in globalThis)).toBe(true);
      expect(await page.title()).toContain(texts.paid);
      await look(`paid-${locale}`);
      end();
    },
    60_000,
  );

  it('leads a customer who cancels to the shop, not to the payment page again', async () => {
    customer = await newCustomer(browser);
    const { page } = customer;
    await page.goto(shopUrl);
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await look('cancelled');
    expect(await page.locator('a[href*="/link/"]').count()).toBe(0);
    await page.getByRole('link', { name: 'Order again' }).click();
    await page.getByRole('button', { name: 'Buy' }).waitFor();
  }, 60_000);

  it('shows the state and a link to look again without JavaScript', async () => {
    customer = await newCustomer(browser, { javaScriptEnabled: false });
    const { page } = customer;
    await page.goto(shopUrl);
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.waitForURL(/from=payment/);
    const reference = new URL(page.url()).pathname.split('/').at(-1)!;
    await emulator.waitForDelivery({ reference });
    await page.goto(page.url());
    await page.getByText('Paid', { exact: true }).waitFor();
  }, 60_000);
});
