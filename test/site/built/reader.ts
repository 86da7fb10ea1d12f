import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openChromium } from '../../browser/chromium.js';
import { newCustomer, type Customer } from '../../browser/customer.js';
import { serveSite, type BuiltSite } from './built-site.js';

interface Hydrated {
  readonly document: { querySelector(selector: string): { readonly __vue_app__?: unknown } | null };
}

/**
 * Opens Chromium and the built site for a describe. Returns a function that reads a page by its
 * path.
 */
export function openSite(): (path: string, options?: BrowserContextOptions) => Promise<Customer> {
  let browser: Browser | undefined;
  let site: BuiltSite | undefined;
  beforeAll(async () => {
    [browser, site] = await Promise.all([openChromium(), serveSite()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  return async (path, options) => {
    const reader = await newCustomer(browser!, options);
    await open(reader.page, `${site!.origin}/${path}`);
    return reader;
  };
}

/** Opens another page. Resolves when the page's code has hydrated the HTML. */
export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.waitForFunction(
    () =>
      (globalThis as unknown as Hydrated).document.querySelector('#app')?.__vue_app__ !== undefined,
  );
}
