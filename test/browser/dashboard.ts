import type { Locator, Page } from 'playwright-core';
import type { Shop } from './shop.js';

/** The parts of the English dashboard, as a developer finds them. */

export async function openDashboard(page: Page, shop: Shop): Promise<void> {
  await page.goto(shop.emulator.dashboardUrl);
  await page.locator('[data-state=live]').waitFor();
}

/** The row of a payment in the list. */
export const paymentRow = (page: Page, reference: string): Locator =>
  page.locator(`li[data-status][data-reference=${JSON.stringify(reference)}]`);

/** The rows of deliveries of a reference in the list. */
export const deliveryRows = (page: Page, reference: string): Locator =>
  page.locator(`li[data-state][data-reference=${JSON.stringify(reference)}]`);

export async function openPayment(page: Page, shop: Shop, url: string): Promise<void> {
  await page.goto(
    `${shop.emulator.dashboardUrl}/payments/${new URL(url).pathname.split('/').at(-1)!}`,
  );
}

export async function openDelivery(page: Page, shop: Shop, id: string): Promise<void> {
  await page.goto(`${shop.emulator.dashboardUrl}/deliveries/${id}`);
}

/** The button that sends a notification with a fault. */
export const faultButton = (page: Page, fault: string): Locator =>
  page.locator(`form[data-fault="${fault}"]`).getByRole('button');

/** Opens the form for a new link, which is folded if payments exist. */
export async function unfoldForm(page: Page): Promise<void> {
  const title = page.getByRole('heading', {
    name: /^(Create a payment link|Créer un lien de paiement)$/,
  });
  const isOpen = await page.locator('details[open]', { has: title }).count();
  if (isOpen === 0) await title.click();
  await page.getByRole('button', { name: /^(Create link|Créer le lien)$/ }).waitFor();
}
