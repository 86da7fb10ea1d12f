import type { Page } from 'playwright-core';

interface Hydrated {
  readonly document: { querySelector(selector: string): { readonly __vue_app__?: unknown } | null };
}

/** Opens a page of the site, and resolves once its code has taken over the HTML that was sent. */
export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.waitForFunction(() => (globalThis as unknown as Hydrated).document.querySelector('#app')?.__vue_app__ !== undefined);
}
