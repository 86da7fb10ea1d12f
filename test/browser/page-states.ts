import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { attemptRows, openDashboard, openPayment } from './dashboard.js';
import { openFailingShop, untilAttempts } from './failing-shop.js';
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
    name: 'pay-merchant',
    async show(page) {
      const emulator = await openFailingShop(page, { refusals: 0, merchant: 'Chez Awa, Dakar' });
      const link = { amount: 4_500, reference: newReference(), description: BASKET };
      await page.goto((await emulator.createLink(link)).url);
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
    name: 'dashboard-empty',
    show: (page, shop) => openDashboard(page, shop),
  },
  {
    name: 'dashboard',
    async show(page) {
      const emulator = await openFailingShop(page, { refusals: 6 });
      const references = Array.from({ length: 6 }, newReference);
      for (const [index, reference] of references.entries()) {
        const amount = 1_500 * (index + 1);
        await emulator.createLink({ amount, reference, description: `${BASKET}, ${index + 1}` });
      }
      await emulator.createLink({ ...FREE, reference: newReference() });
      const [paid = '', failed = '', cancelled = '', lost = '', refused = ''] = references;
      await emulator.fail(failed);
      await emulator.cancel(cancelled);
      await emulator.pay(lost, { delivery: { times: 0 } });
      await emulator.pay(paid);
      await emulator.waitForDelivery({ reference: paid });
      await emulator.pay(refused, { delivery: { delay: 3_600_000 } });
      await openDashboard(page, { emulator });
    },
  },
  {
    name: 'dashboard-payment',
    async show(page) {
      const emulator = await openFailingShop(page, { refusals: 14 });
      const link = { amount: 4_500, reference: newReference(), description: BASKET };
      const { url } = await emulator.createLink({ ...link, single_use: true });
      await emulator.pay(link.reference);
      await untilAttempts(emulator, 15);
      await openPayment(page, { emulator }, url);
      await attemptRows(page).last().locator('summary').click();
    },
  },
];

export const PAGE_STATES: readonly PageState[] = [...PAY_PAGE, ...DASHBOARD];
