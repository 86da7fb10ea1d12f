import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findings } from './axe.js';
import { describeInChromium, openChromium } from './chromium.js';
import { DESKTOP, newCustomer, PHONE } from './customer.js';
import { PAGE_STATES } from './page-states.js';
import { openShop, type Shop } from './shop.js';

describeInChromium('axe', () => {
  let browser: Browser;
  let shop: Shop;
  beforeAll(async () => {
    [browser, shop] = await Promise.all([openChromium(), openShop()]);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });

  describe.each(['light', 'dark'] as const)('in the %s colour scheme', (colorScheme) => {
    it.each(PAGE_STATES.map((state) => [state.name, state] as const))(
      'finds no violation on the page: %s',
      async (_, state) => {
        const customer = await newCustomer(browser, {
          colorScheme,
          viewport: PHONE,
          locale: 'fr-CI',
        });
        await state.show(customer.page, shop);
        expect(await findings(customer.page)).toEqual([]);
        await customer.page.setViewportSize(DESKTOP);
        expect(await findings(customer.page)).toEqual([]);
        await customer.leave();
        expect(customer.complaints).toEqual([]);
      },
    );
  });

  it('finds an unlabelled field and low contrast', async () => {
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
