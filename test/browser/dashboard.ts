import type { Emulator } from '@paylink/emulator';
import type { Locator, Page } from 'playwright-core';

/** The parts of the dashboard, as a developer finds them. */

export async function openDashboard(page: Page, { emulator }: { emulator: Emulator }) {
  await page.goto(emulator.dashboardUrl);
}

/** Opens the dashboard's page of a payment, by the address of its hosted page. */
export async function openPayment(page: Page, { emulator }: { emulator: Emulator }, url: string) {
  await page.goto(`${emulator.dashboardUrl}/payments/${new URL(url).pathname.split('/').at(-1)!}`);
}

/** The attempts on the page of a payment. */
export const attemptRows = (page: Page): Locator => page.locator('article details');

export const resendButton = (page: Page): Locator =>
  page.getByRole('button', { name: 'Send again' }).first();
