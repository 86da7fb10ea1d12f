import type { Locator, Page } from 'playwright-core';
import type { PageElement, PageGlobals } from './in-page.js';

/** The parts of the hosted page, found by their role and text in French or English. */
export const payButton = (page: Page): Locator =>
  page.getByRole('button', { name: /^(Pay|Payer)(\s|$)/ });
export const cancelButton = (page: Page): Locator =>
  page.getByRole('button', { name: /^(Cancel|Annuler)/ });
export const failButton = (page: Page): Locator =>
  page.getByRole('button', { name: /failure|échec/i });
export const amountField = (page: Page): Locator => page.getByLabel(/^(Amount|Montant)/);

/** Turns off the browser's own checks of a form. */
export async function skipTheBrowsersChecks(page: Page): Promise<void> {
  await page
    .locator('form:has(input:not([type=hidden]))')
    .evaluate((form: PageElement) => (form.noValidate = true));
}

/** Returns the CSS pixels beyond the screen's width. More than 0 makes the page scroll sideways. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = (globalThis as unknown as PageGlobals).document
      .documentElement;
    return Math.max(0, scrollWidth - clientWidth);
  });
}
