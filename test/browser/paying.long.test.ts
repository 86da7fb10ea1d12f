import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInChromium, openChromium } from './chromium.js';
import { newCustomer, type Customer } from './customer.js';
import type { PageElement, PageGlobals } from './in-page.js';
import {
  amountField,
  cancelButton,
  failButton,
  overhang,
  payButton,
  skipTheBrowsersChecks,
} from './pay-page.js';
import { openShop, type Shop } from './shop.js';

const FREE = { amount_min: 500, amount_max: 20_000 };

describeInChromium('a customer in Chromium', () => {
  let browser: Browser;
  let shop: Shop;
  let customer: Customer;
  beforeAll(async () => {
    [browser, shop] = await Promise.all([openChromium(), openShop()]);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });
  afterEach(async () => {
    await customer.leave();
    expect(customer.complaints).toEqual([]);
  });

  async function open(fields: Record<string, unknown> = {}, options?: BrowserContextOptions) {
    const reference = randomUUID();
    const url = await shop.createLink({ reference, ...fields });
    customer = await newCustomer(browser, options);
    await customer.page.goto(url);
    return { page: customer.page, reference, url };
  }

  it('sees the amount and the description, pays, and returns to return_url', async () => {
    const { page, reference } = await open({ description: 'Two coffees', amount: 15_000 });
    const text = await page.locator('main').innerText();
    expect(text).toContain('Two coffees');
    expect(text).toContain(reference);
    expect(text).toContain(inFrancs(15_000, 'en'));
    await payButton(page).click();
    await page.waitForURL(shop.thanks);
    expect(await shop.readPayment(reference)).toMatchObject({ status: 'success', amount: 15_000 });
    expect(await shop.timesCredited(reference)).toBe(1);
  });

  it('cannot pay without an amount', async () => {
    const { page, reference } = await open(FREE);
    await payButton(page).click();
    await page.locator('input:invalid').waitFor();
    expect(await shop.readPayment(reference)).toMatchObject({ status: 'pending' });
  });

  it.each(['499', '20001'])(
    'reads the bounds after the refused amount "%s", and can go back without a form',
    async (amount) => {
      const { page, reference } = await open(FREE);
      await skipTheBrowsersChecks(page);
      await amountField(page).fill(amount);
      await payButton(page).click();
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.innerText()).toContain(inFrancs(500, 'en'));
      expect(await alert.innerText()).toContain(inFrancs(20_000, 'en'));
      expect(await amountField(page).inputValue()).toBe(amount);
      expect(await shop.readPayment(reference)).toMatchObject({ status: 'pending' });
      await page.goBack();
      expect(await page.getByRole('alert').count()).toBe(0);
      await page.goForward();
      await alert.waitFor();
      expect(customer.sent('/pay')).toBe(1);
      await amountField(page).fill('500');
      await payButton(page).click();
      await page.waitForURL(shop.thanks);
      expect(await shop.readPayment(reference)).toMatchObject({ status: 'success', amount: 500 });
    },
  );

  it.each(['1 500', '1\u202f500', '1\u00a0500 '])('can enter the amount "%s"', async (text) => {
    const { page, reference } = await open(FREE);
    await amountField(page).fill(text);
    await payButton(page).click();
    await page.waitForURL(shop.thanks);
    expect(await shop.readPayment(reference)).toMatchObject({ status: 'success', amount: 1_500 });
  });

  it('pays a single-use link once although two tabs have it open', async () => {
    const { page, reference, url } = await open({ single_use: true });
    const other = await page.context().newPage();
    await other.goto(url);
    await payButton(page).click();
    await page.waitForURL(shop.thanks);
    // The page was opened before the payment.
    await payButton(other).click();
    await other.waitForURL(shop.thanks);
    await other.goto(url);
    expect(await payButton(other).count()).toBe(0);
    expect(await other.getByRole('heading', { level: 1 }).innerText()).toMatch(/received/);
    expect(await shop.timesCredited(reference)).toBe(1);
  });

  it.each([true, false])(
    'makes one payment and one notification with a double click (single_use %s)',
    async (single_use) => {
      const { page, reference } = await open({ single_use });
      await payButton(page).dblclick();
      // Not by its address, here and below: the browser gives up the first navigation.
      await page.getByRole('heading', { name: 'Thank you' }).waitFor();
      expect(await shop.timesCredited(reference)).toBe(1);
      expect(
        shop.emulator.deliveries().filter((delivery) => delivery.reference === reference),
      ).toHaveLength(1);
    },
  );

  it('makes one payment with a second click before the first answer', async () => {
    const { page, reference } = await open({ single_use: false });
    const { x, y, width, height } = (await payButton(page).boundingBox())!;
    const click = () => page.mouse.click(x + width / 2, y + height / 2);
    await page.route('**/pay', async (route) => {
      if (customer.sent('/pay') > 1) return route.continue();
      // The service has the first request. The customer sees no change yet, and clicks again.
      await route.fetch({ maxRedirects: 0 });
      return click();
    });
    await click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    expect(customer.sent('/pay')).toBe(2);
    expect(await shop.timesCredited(reference)).toBe(1);
  });

  it('cannot pay a single-use link again after going back', async () => {
    const { page, reference } = await open({ single_use: true });
    await payButton(page).click();
    await page.waitForURL(shop.thanks);
    await page.goBack();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/received/);
    expect(await payButton(page).count()).toBe(0);
    expect(await shop.timesCredited(reference)).toBe(1);
  });

  it('cannot pay after cancelling and going back', async () => {
    const { page, reference } = await open();
    await cancelButton(page).click();
    await page.waitForURL(shop.basket);
    await page.goBack();
    expect(await payButton(page).count()).toBe(0);
    expect(await shop.readPayment(reference)).toMatchObject({ status: 'cancelled' });
  });

  it('can pay, fail and cancel without JavaScript', async () => {
    const plain = { javaScriptEnabled: false };
    const free = await open(FREE, plain);
    await amountField(free.page).fill('700');
    await payButton(free.page).click();
    await free.page.waitForURL(shop.thanks);
    expect(await shop.readPayment(free.reference)).toMatchObject({
      status: 'success',
      amount: 700,
    });
    await customer.leave();
    expect(customer.complaints).toEqual([]);

    const fixed = await open({}, plain);
    await failButton(fixed.page).click();
    await fixed.page.getByRole('alert').waitFor();
    await cancelButton(fixed.page).click();
    await fixed.page.waitForURL(shop.basket);
    expect(await shop.readPayment(fixed.reference)).toMatchObject({ status: 'cancelled' });
  });

  it('can pay with the keyboard alone, with a visible focus', async () => {
    const { page, reference } = await open(FREE);
    await tabTo(customer, 'INPUT');
    await page.keyboard.type('900');
    await tabTo(customer, 'BUTTON');
    expect(await page.locator(':focus').innerText()).toMatch(/^Pay/);
    await page.keyboard.press('Enter');
    await page.waitForURL(shop.thanks);
    expect(await shop.readPayment(reference)).toMatchObject({ status: 'success', amount: 900 });
  });

  it.each([
    ['fr', 'fr-CI'],
    ['en', 'de-DE'],
  ])(
    'reads the language %s and its format of amounts with the locale %s',
    async (language, locale) => {
      const { page } = await open({ amount: 1_234_567 }, { locale });
      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      expect(await page.locator('main').innerText()).toContain(inFrancs(1_234_567, language));
      expect(await payButton(page).innerText()).toContain(language === 'fr' ? 'Payer' : 'Pay');
      expect(await overhang(page)).toBe(0);
    },
  );
});

/** Formats an amount like a JavaScript engine. West African francs have no cents. */
function inFrancs(amount: number, language: string): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency: 'XOF' }).format(amount);
}

/** Presses Tab until a named element has the focus, and expects a visible focus on each element. */
async function tabTo({ page }: Customer, name: string): Promise<void> {
  for (let presses = 0; presses < 10; presses++) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if ((await focused.count()) === 0) continue;
    const focus = await focused.evaluate((element: PageElement) => {
      const { outlineStyle, outlineWidth, boxShadow } = (
        globalThis as unknown as PageGlobals
      ).getComputedStyle(element);
      return {
        name: element.tagName,
        isVisible: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
      };
    });
    expect(focus).toMatchObject({ isVisible: true });
    if (focus.name === name) return;
  }
  throw new Error(`no ${name} gets the focus`);
}
