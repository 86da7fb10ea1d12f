import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { COLOURS, findings } from './axe.js';
import { describeInChromium, openChromium } from './chromium.js';
import { DESKTOP, newCustomer, PHONE } from './customer.js';
import { PAGE_STATES } from './page-states.js';
import { overhang } from './pay-page.js';
import { openShop, type Shop } from './shop.js';

/** A folder for pictures of the pages. */
const PICTURES = process.env['PAYLINK_SCREENSHOTS'];
// A picture of a longer page shows its start.
const TALLEST = 1_600;
const SCREENS = { phone: PHONE, desktop: DESKTOP };

describeInChromium('every page', () => {
  let browser: Browser;
  let shop: Shop;
  beforeAll(async () => {
    browser = await openChromium();
    if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  });
  // A new shop per page, so that earlier orders do not show.
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());
  afterAll(() => browser?.close());

  it.each(PAGE_STATES.map((state) => [state.name, state] as const))(
    'fits into the screen, light and dark, without a violation for axe: %s',
    async (name, state) => {
      const customer = await newCustomer(browser, { locale: 'fr-CI', reducedMotion: 'reduce' });
      const { page } = customer;
      await state.show(page, shop);
      for (const [screen, viewport] of Object.entries(SCREENS)) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          expect(await overhang(page)).toBe(0);
          expect(await findings(page, colorScheme === 'dark' ? COLOURS : {})).toEqual([]);
          if (PICTURES !== undefined)
            await draw(page, join(PICTURES, `${name}-${screen}-${colorScheme}.png`));
        }
      }
      await customer.leave();
      expect(customer.complaints).toEqual([]);
    },
  );

  it('notices an unlabelled field and low contrast', async () => {
    const customer = await newCustomer(browser);
    await customer.page.setContent(
      '<html lang="en"><title>t</title><main><h1>t</h1><p style="color:#aaa">grey words</p><input></main></html>',
    );
    expect((await findings(customer.page)).map(({ rule }) => rule)).toEqual([
      'color-contrast',
      'label',
    ]);
    await customer.leave();
  });
});

async function draw(page: Page, path: string): Promise<void> {
  const viewport = page.viewportSize()!;
  const box = (await page.locator('html').boundingBox())!;
  const height = Math.min(TALLEST, Math.max(box.height, viewport.height));
  await page.screenshot({
    path,
    clip: { x: 0, y: 0, width: viewport.width, height },
    fullPage: true,
    animations: 'disabled',
    caret: 'hide',
  });
}
