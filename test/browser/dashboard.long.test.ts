import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeInChromium, openChromium } from './chromium.js';
import { newCustomer, type Customer } from './customer.js';
import { openDashboard, openPayment, resendButton } from './dashboard.js';
import { HOSTILE } from './hostile-texts.js';
import { overhang } from './pay-page.js';
import { openShop, type Shop } from './shop.js';

describeInChromium('the dashboard in Chromium', () => {
  let browser: Browser;
  let shop: Shop;
  let customer: Customer;
  let page: Page;
  beforeAll(async () => {
    [browser, shop] = await Promise.all([openChromium(), openShop()]);
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
    const urls: string[] = [];
    for (const text of Object.values(HOSTILE)) {
      urls.push(await shop.createLink({ reference: text, description: text }));
      await shop.emulator.pay(text);
      await openDashboard(page, shop);
      const row = page.locator('li[data-status]').first();
      expect(await row.getAttribute('data-reference')).toBe(text);
      expect(await row.getAttribute('data-status')).toBe('success');
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
