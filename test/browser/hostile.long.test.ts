import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInChromium, openChromium } from './chromium.js';
import { newCustomer, type Customer } from './customer.js';
import { HOSTILE } from './hostile-texts.js';
import type { PageGlobals, PageNode } from './in-page.js';
import { amountField, overhang, payButton, skipTheBrowsersChecks } from './pay-page.js';
import { openShop, type Shop } from './shop.js';

describeInChromium('a hostile text', () => {
  let browser: Browser;
  let shop: Shop;
  let customer: Customer;
  beforeAll(async () => {
    [browser, shop] = await Promise.all([openChromium(), openShop()]);
    // One for all texts, because a browser profile costs more than a page.
    customer = await newCustomer(browser);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });
  afterEach(() => expect((customer.complaints as string[]).splice(0)).toEqual([]));

  async function open(fields: Record<string, unknown>): Promise<Page> {
    await customer.page.goto(await shop.createLink(fields));
    return customer.page;
  }

  it.each(Object.entries(HOSTILE))(
    'neither runs nor breaks the page as description and reference: %s',
    async (_, text) => {
      const page = await open({ description: text, reference: text, return_url: undefined });
      await expectUnharmed(page, text);
      await payButton(page).click();
      await page.getByRole('heading', { name: /received/ }).waitFor();
      await expectUnharmed(page, text);
      expect(await shop.timesCredited(text)).toBe(1);
      expect(await shop.readPayment(text)).toMatchObject({ reference: text, status: 'success' });
    },
  );

  it.each([
    ['markup', '?a="><script>window.harmed=1</script>'],
    ['quotes', `?a='"\``],
    ['a policy directive', '?a=;script-src *;'],
    ['a line break', '?a=%0d%0aSet-Cookie:harmed=1'],
    ['1,900 characters', `?a=${'a'.repeat(1_900)}`],
  ])('leads to the merchant although the query of return_url has %s', async (name, query) => {
    const page = await open({
      reference: `back with ${name}`,
      single_use: true,
      return_url: `${shop.thanks}${query}`,
    });
    const link = page.url();
    await payButton(page).click();
    await page.waitForURL((url) => url.href.startsWith(shop.thanks));
    await page.goto(link);
    await expectUnharmed(page, 'received');
    await page.getByRole('link').click();
    await page.waitForURL((url) => url.href.startsWith(shop.thanks));
    expect(await page.context().cookies()).toEqual([]);
  });

  it.each(['an attribute', 'a quoted attribute', '255 characters without a blank'])(
    'is shown as text if it was entered as an amount: %s',
    async (name) => {
      const page = await open({ amount_min: 5, amount_max: 10, reference: `entered ${name}` });
      await skipTheBrowsersChecks(page);
      // Short enough that the service reads it.
      await amountField(page).fill(HOSTILE[name]!.slice(0, 500));
      await payButton(page).click();
      await page.getByRole('alert').waitFor();
      await expectUnharmed(page, '');
    },
  );

  it('is detected by this test if it runs', async () => {
    await customer.page.goto(shop.basket);
    await customer.page.setContent(
      '<script>window.harmed = 1</script><p style="width: 2000px">W</p>',
    );
    await expect(expectUnharmed(customer.page, 'W')).rejects.toThrow();
    expect(await overhang(customer.page)).toBeGreaterThan(0);
  });

  it.each([
    ['an inline script', '<script>1</script>', /^policy: script-src-elem inline/],
    ['an attribute', '<p style="color: red">W</p>', /^policy: style-src-attr inline/],
    [
      'another machine',
      '<img src="http://elsewhere.example/w.png" alt="">',
      /^policy: img-src|^request to elsewhere/,
    ],
  ])(
    'is detected by this test if only the policy of the page stops it: %s',
    async (_, markup, complaint) => {
      const { page, complaints, leave } = await newCustomer(browser);
      await page.route('**/harmful', (route) =>
        route.fulfill({
          contentType: 'text/html',
          headers: { 'Content-Security-Policy': "default-src 'none'" },
          body: `<!doctype html><title>t</title>${markup}`,
        }),
      );
      await page.goto(`${shop.emulator.payUrl}/harmful`);
      await expect.poll(() => complaints.some((entry) => complaint.test(entry))).toBe(true);
      await leave();
    },
  );
});

/** Checks that the page shows the text as text, runs no script, and fits the screen. */
async function expectUnharmed(page: Page, text: string): Promise<void> {
  expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false);
  expect(await page.title()).not.toBe('harmed');
  expect(await page.locator('img, svg[onload], iframe, [onerror], [onclick]').count()).toBe(0);
  expect(await page.locator('body').textContent()).toContain(text);
  expect(await overhang(page)).toBe(0);
  expect(await beyondTheScreen(page)).toEqual([]);
  expect(await readsBackwards(page)).toBe(false);
}

/** Returns controls that exceed the screen's width, or are too low for a thumb. */
async function beyondTheScreen(page: Page): Promise<string[]> {
  const { width } = page.viewportSize()!;
  const names = [];
  for (const target of await page.locator('button, input:not([type=hidden]), a').all()) {
    const box = (await target.boundingBox())!;
    if (box.x < 0 || box.x + box.width > width || box.height < 24)
      names.push(await target.innerText());
  }
  return names;
}

/** Returns true if a direction sign affects the page's own texts. */
function readsBackwards(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const { document } = globalThis as unknown as PageGlobals;
    const TEXT = 3;
    const leftOf = (text: PageNode, offset: number): number => {
      const range = document.createRange();
      range.setStart(text, offset);
      range.setEnd(text, offset + 1);
      return range.getBoundingClientRect().left;
    };
    return Array.from(document.querySelectorAll('button, .amount, a')).some(({ childNodes }) => {
      const text = Array.from(childNodes).find(
        (node) => node.nodeType === TEXT && (node.textContent ?? '').trim().length > 1,
      );
      return text !== undefined && leftOf(text, 1) < leftOf(text, 0);
    });
  });
}
