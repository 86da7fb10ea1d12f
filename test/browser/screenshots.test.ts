import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeInChromium, openChromium } from './chromium.js';
import { DESKTOP, newCustomer, PHONE } from './customer.js';
import { PAGE_STATES } from './page-states.js';
import { overhang } from './pay-page.js';
import { openShop, type Shop } from './shop.js';

/** The folder for the pictures. Without it, they are discarded. */
const KEPT = process.env['PAYLINK_SCREENSHOTS'];

// A picture of a longer page shows its start.
const TALLEST = 1_600;

describeInChromium('every page', () => {
  let browser: Browser;
  let shop: Shop;
  let folder: string;
  beforeAll(async () => {
    folder =
      KEPT === undefined ? await mkdtemp(join(tmpdir(), 'paylink-screenshots-')) : resolve(KEPT);
    await mkdir(folder, { recursive: true });
    browser = await openChromium();
  });
  // A new shop per picture, so that earlier pictures do not affect it.
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());
  afterAll(async () => {
    await browser?.close();
    if (KEPT === undefined && folder !== undefined) await rm(folder, { recursive: true });
  });

  describe.each([
    ['phone', PHONE],
    ['desktop', DESKTOP],
  ])('on a %s', (screen, viewport) => {
    describe.each(['light', 'dark'] as const)('in the %s colour scheme', (colorScheme) => {
      it.each(PAGE_STATES.map((state) => [state.name, state] as const))(
        'fits into the screen: %s',
        async (name, state) => {
          const customer = await newCustomer(browser, {
            viewport,
            colorScheme,
            locale: 'fr-CI',
            reducedMotion: 'reduce',
          });
          await state.show(customer.page, shop);
          expect(await overhang(customer.page)).toBe(0);
          const path = join(folder, `${name}-${screen}-${colorScheme}.png`);
          const clip = {
            x: 0,
            y: 0,
            width: viewport.width,
            height: Math.min(TALLEST, await heightOf(customer.page)),
          };
          await customer.page.screenshot({
            path,
            clip,
            fullPage: true,
            animations: 'disabled',
            caret: 'hide',
          });
          await customer.leave();
          expect(customer.complaints).toEqual([]);
        },
      );
    });
  });
});

async function heightOf(page: Page): Promise<number> {
  const { height } = (await page.locator('html').boundingBox())!;
  return Math.max(height, page.viewportSize()!.height);
}
