import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeInChromium, openChromium } from './chromium.js';
import { newCustomer, type Customer } from './customer.js';
import { attemptRows, openDashboard, openPayment, paymentRow, resendButton } from './dashboard.js';
import { openFailingShop } from './failing-shop.js';
import { HOSTILE } from './hostile-texts.js';
import { overhang } from './pay-page.js';
import { openShop, type Shop } from './shop.js';

describeInChromium('the dashboard in Chromium', () => {
  let browser: Browser;
  let shop: Shop;
  let customer: Customer;
  let page: Page;
  beforeAll(async () => {
    const assumed = { referenceLength: 20_000, descriptionLength: 20_000 };
    [browser, shop] = await Promise.all([openChromium(), openShop({ assumed })]);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });
  beforeEach(() => visit());
  afterEach(async () => {
    await customer.leave();
    expect(customer.complaints).toEqual([]);
  });

  async function visit(options: BrowserContextOptions = {}): Promise<void> {
    customer = await newCustomer(browser, options);
    page = customer.page;
  }

  it('shows new links, payments and notifications without a reload', async () => {
    const reference = randomUUID();
    await openDashboard(page, shop);
    await page.evaluate(() => Object.assign(globalThis, { isTheSamePage: true }));
    await shop.createLink({ reference });
    await paymentRow(page, reference).and(page.locator('[data-status=pending]')).waitFor();
    await shop.emulator.pay(reference);
    const paid = page.locator('[data-status=success][data-delivery=delivered]');
    await paymentRow(page, reference).and(paid).waitFor();
    expect(await page.evaluate(() => 'isTheSamePage' in globalThis)).toBe(true);
  });

  it('shows 14 equal attempts as one row, which stays open while others join', async () => {
    const emulator = await openFailingShop(page, { refusals: 20 });
    const { url } = await emulator.createLink({ amount: 1_500, reference: 'order-1' });
    await openPayment(page, { emulator }, url);
    await emulator.pay('order-1', { delivery: { times: 0 } });
    await resendButton(page).waitFor();
    for (let count = 0; count < 14; count += 1)
      await emulator.redeliver(emulator.deliveries()[0]!.id);
    await attemptRows(page)
      .filter({ hasText: /503 unknown_order\s*× 14/ })
      .waitFor();
    expect(await attemptRows(page).count()).toBe(1);
    await attemptRows(page).locator('summary').click();
    await page.getByText('X-Service-Signature').waitFor();
    await emulator.redeliver(emulator.deliveries()[0]!.id);
    await attemptRows(page).filter({ hasText: '× 15' }).waitFor();
    expect(await page.getByText('X-Service-Signature').isVisible()).toBe(true);
  });

  it('sends a notification again without JavaScript, and back needs no second form', async () => {
    const reference = randomUUID();
    const url = await shop.createLink({ reference });
    await shop.emulator.pay(reference);
    await shop.emulator.waitForDelivery({ reference });
    await customer.leave();
    await visit({ javaScriptEnabled: false });
    await openPayment(page, shop, url);
    await resendButton(page).click();
    await page.getByText('2 attempts').waitFor();
    await page.reload();
    const delivery = shop.emulator.deliveries().find((entry) => entry.reference === reference);
    expect(delivery?.attemptCount).toBe(2);
  });

  it('shows hostile texts without running them', async () => {
    await openDashboard(page, shop);
    const urls: string[] = [];
    for (const text of Object.values(HOSTILE)) {
      urls.push(await shop.createLink({ reference: text, description: text }));
      await shop.emulator.pay(text);
      const row = page.locator('li[data-status]').first();
      await expect.poll(() => row.getAttribute('data-reference')).toBe(text);
      await expect.poll(() => row.getAttribute('data-status')).toBe('success');
      await expectUnharmed(page);
    }
    for (const url of urls) {
      await openPayment(page, shop, url);
      await expectUnharmed(page);
    }
  }, 60_000);
});

/**
 * Checks that no text became a script or an element, and that the page does not scroll sideways.
 */
async function expectUnharmed(page: Page): Promise<void> {
  expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false);
  expect(await page.locator('img, iframe, [onerror], [onfocus]').count()).toBe(0);
  expect(await overhang(page)).toBe(0);
}
