import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { vi } from 'vitest';
import { openDashboard, openDelivery, openPayment, unfoldForm } from './dashboard.js';
import { amountField, failButton, payButton, skipTheBrowsersChecks } from './pay-page.js';
import type { Shop } from './shop.js';

/** What a page can look like, and the way there. */
export interface PageState {
  readonly name: string;
  show(page: Page, shop: Shop): Promise<void>;
}

const BASKET = 'Two coffees and a slice of cake';
const FREE = { amount_min: 500, amount_max: 20_000, description: 'A gift for the school library' };

/** As references of shops look, each new so that the service takes it. */
function newReference(): string {
  return `order-${randomUUID().slice(0, 8)}`;
}

async function openLink(
  page: Page,
  shop: Shop,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const reference = newReference();
  await page.goto(await shop.createLink({ description: BASKET, reference, ...fields }));
  return reference;
}

const PAY_PAGE: readonly PageState[] = [
  {
    name: 'pay',
    show: async (page, shop) => {
      await openLink(page, shop);
    },
  },
  {
    name: 'free-amount',
    show: async (page, shop) => {
      await openLink(page, shop, FREE);
    },
  },
  {
    name: 'free-amount-refused',
    async show(page, shop) {
      await openLink(page, shop, FREE);
      await skipTheBrowsersChecks(page);
      await amountField(page).fill('120');
      await payButton(page).click();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'failed',
    async show(page, shop) {
      await openLink(page, shop);
      await failButton(page).click();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'paid',
    async show(page, shop) {
      const reference = await openLink(page, shop, { single_use: true });
      await shop.emulator.pay(reference);
      await page.reload();
    },
  },
  {
    name: 'cancelled',
    async show(page, shop) {
      const reference = await openLink(page, shop);
      await shop.emulator.cancel(reference);
      await page.reload();
    },
  },
  {
    name: 'not-found',
    show: async (page, shop) => {
      await page.goto(`${shop.emulator.payUrl}/link/nothing-here`);
    },
  },
];

const DASHBOARD: readonly PageState[] = [
  {
    name: 'dashboard',
    async show(page, shop) {
      const references = Array.from({ length: 5 }, newReference);
      for (const reference of references) await shop.createLink({ reference, description: BASKET });
      const [paid = '', failed = '', cancelled = '', other = ''] = references;
      await Promise.all([
        shop.emulator.pay(paid),
        shop.emulator.fail(failed),
        shop.emulator.cancel(cancelled),
        shop.emulator.pay(other),
      ]);
      await delivered(shop, other);
      await openDashboard(page, shop);
    },
  },
  {
    name: 'dashboard-create',
    async show(page, shop) {
      await openDashboard(page, shop);
      await unfoldForm(page);
    },
  },
  {
    name: 'dashboard-payment',
    async show(page, shop) {
      await openPayment(
        page,
        shop,
        await shop.createLink({ reference: newReference(), description: BASKET }),
      );
    },
  },
  {
    name: 'dashboard-delivery',
    async show(page, shop) {
      const reference = newReference();
      await shop.createLink({ reference });
      await shop.emulator.pay(reference);
      await openDelivery(page, shop, await delivered(shop, reference));
    },
  },
  {
    name: 'dashboard-timeline',
    async show(page, shop) {
      const reference = newReference();
      await shop.createLink({ reference });
      await shop.tryLink({ amount: 1, reference });
      await shop.emulator.pay(reference);
      await delivered(shop, reference);
      await page.goto(`${shop.emulator.dashboardUrl}/timeline`);
    },
  },
];

export const PAGE_STATES: readonly PageState[] = [...PAY_PAGE, ...DASHBOARD];

/** Waits until the merchant has a notification, and gives its id. */
async function delivered(shop: Shop, reference: string): Promise<string> {
  const isOfIt = (entry: { reference: string; state: string }) =>
    entry.reference === reference && entry.state === 'delivered';
  return (await vi.waitUntil(() => shop.emulator.deliveries().find(isOfIt), { timeout: 10_000 }))
    .id;
}
