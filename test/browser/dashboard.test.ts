import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { EmulatorDelivery } from '@paylink/emulator';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeInChromium, openChromium } from './chromium.js';
import { newCustomer, type Customer } from './customer.js';
import {
  deliveryRows,
  faultButton,
  openDashboard,
  openDelivery,
  openPayment,
  paymentRow,
  unfoldForm,
} from './dashboard.js';
import { HOSTILE } from './hostile-texts.js';
import type { PageGlobals } from './in-page.js';
import { overhang } from './pay-page.js';
import { openShop, type Shop } from './shop.js';

// For a late notification, and for one that trickles in.
const SLOW_FAULTS = 30_000;

describeInChromium('the dashboard in Chromium', () => {
  let browser: Browser;
  let shop: Shop;
  let customer: Customer;
  let page: Page;
  beforeAll(async () => {
    [browser, shop] = await Promise.all([
      openChromium(),
      openShop({
        isCareful: true,
        assumed: { referenceLength: 20_000, descriptionLength: 20_000 },
      }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });
  beforeEach(() => visit());
  afterEach(async () => {
    await customer.leave();
    expect(customer.complaints).toEqual([]);
  });

  async function visit(options: BrowserContextOptions = {}): Promise<void> {
    customer = await newCustomer(browser, options);
    page = customer.page;
  }

  /**
   * Returns the newest delivery. A payment without a notification has left an earlier dropped one.
   */
  function newestOf(reference: string): EmulatorDelivery | undefined {
    return shop.emulator.deliveries().findLast((delivery) => delivery.reference === reference);
  }

  /** Returns the merchant's answer to each attempt, as the service saw it. */
  function answersTo(reference: string): (number | 'no answer')[] {
    return (
      newestOf(reference)?.attempts.map(({ response }) => response?.status ?? 'no answer') ?? []
    );
  }

  it('shows new links, payments and notifications without a reload', async () => {
    const reference = randomUUID();
    await openDashboard(page, shop);
    await page.evaluate(() => Object.assign(globalThis, { isTheSamePage: true }));
    await shop.createLink({ reference });
    await paymentRow(page, reference).and(page.locator('[data-status=pending]')).waitFor();
    await shop.emulator.pay(reference);
    await paymentRow(page, reference).and(page.locator('[data-status=success]')).waitFor();
    await deliveryRows(page, reference).and(page.locator('[data-state=delivered]')).waitFor();
    expect(await page.evaluate(() => 'isTheSamePage' in globalThis)).toBe(true);
  });

  it.each([
    ['fail', 'failed'],
    ['cancel', 'cancelled'],
  ] as const)('shows the new status of a payment without a reload: %s', async (end, status) => {
    const reference = randomUUID();
    await shop.createLink({ reference });
    await openDashboard(page, shop);
    await shop.emulator[end](reference);
    await paymentRow(page, reference)
      .and(page.locator(`[data-status=${status}]`))
      .waitFor();
    expect(await deliveryRows(page, reference).count()).toBe(0);
  });

  it('shows the request and the reply of a delivery, and resends the delivery', async () => {
    const reference = randomUUID();
    await shop.createLink({ reference });
    await shop.emulator.pay(reference);
    expect(await shop.timesCredited(reference)).toBe(1);
    const delivery = shop.emulator.deliveries().find((entry) => entry.reference === reference)!;
    await openDelivery(page, shop, delivery.id);
    expect(await page.locator('main').innerText()).toContain(reference);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.locator('#attempt-2').waitFor();
    expect(answersTo(reference)).toEqual([200, 200]);
    // The notification was sent again, but the order is credited only once.
    expect(await shop.timesCredited(reference)).toBe(1);
    const shown = await page.locator('main').textContent();
    expect(shown).toMatch(/x-service-event/i);
    expect(shown).toContain('{"received":true}');
  });

  it.each([
    ['en-GB', 'As a curl command', 'Copy', 'Copied'],
    ['fr-FR', 'En commande curl', 'Copier', 'Copié'],
  ])('copies a working curl command to the clipboard: %s', async (locale, fold, copy, copied) => {
    const reference = `it's ${randomUUID()} é`;
    await shop.createLink({ reference });
    await shop.emulator.pay(reference);
    await shop.emulator.waitForDelivery({ reference });
    await customer.leave();
    await visit({ locale, permissions: ['clipboard-read', 'clipboard-write'] });
    await openDelivery(page, shop, newestOf(reference)!.id);
    await page.getByText(fold, { exact: true }).click();
    await page.getByRole('button', { name: copy, exact: true }).click();
    await page.getByRole('button', { name: copied, exact: true }).waitFor();
    const line = await page.evaluate(() =>
      (globalThis as unknown as PageGlobals).navigator.clipboard.readText(),
    );
    expect(line).toBe(await page.locator('#curl-1-text').textContent());
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line]);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 /);
    expect(stdout).toContain('{"received":true}');
    expect(await shop.timesCredited(reference)).toBe(1);
  });

  it('pays from the page of a payment with or without a notification', async () => {
    const [told, untold] = [randomUUID(), randomUUID()];
    await openPayment(page, shop, await shop.createLink({ reference: told }));
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await expect.poll(async () => (await shop.readPayment(told)).status).toBe('success');
    await openPayment(page, shop, await shop.createLink({ reference: untold }));
    await page.getByRole('button', { name: 'Pay without notification' }).click();
    await expect.poll(async () => (await shop.readPayment(untold)).status).toBe('success');
    expect([await shop.timesCredited(told), await shop.timesCredited(untold)]).toEqual([1, 0]);
  });

  it('creates a link with its form, and marks an invalid field', async () => {
    const reference = randomUUID();
    await openDashboard(page, shop);
    await unfoldForm(page);
    await page.getByLabel('Amount', { exact: true }).fill('2500');
    await page.getByLabel('Reference', { exact: true }).fill(reference);
    await page.getByRole('button', { name: 'Create link' }).click();
    await expect.poll(async () => (await shop.readPayment(reference)).amount).toBe(2_500);

    await openDashboard(page, shop);
    await unfoldForm(page);
    await page.getByLabel('Amount', { exact: true }).fill('2500');
    await page.getByLabel('Reference', { exact: true }).fill(reference);
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByRole('alert').first().waitFor();
    expect(await page.locator('[aria-invalid=true]').count()).toBeGreaterThan(0);
    expect(await page.getByLabel('Reference', { exact: true }).inputValue()).toBe(reference);
  });

  it('filters payments by part of the reference and by status', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await shop.createLink({ reference: one });
    await shop.createLink({ reference: other });
    await shop.emulator.cancel(other);
    await openDashboard(page, shop);
    await page.getByLabel('Reference contains').fill(one.slice(3, 20));
    await page.getByRole('button', { name: 'Filter' }).click();
    await paymentRow(page, one).waitFor();
    expect(await paymentRow(page, other).count()).toBe(0);
    await page.goto(`${shop.emulator.dashboardUrl}?status=cancelled`);
    await paymentRow(page, other).waitFor();
    expect(await paymentRow(page, one).count()).toBe(0);
  });

  it('works without JavaScript', async () => {
    const reference = randomUUID();
    await shop.createLink({ reference });
    await shop.emulator.pay(reference);
    expect(await shop.timesCredited(reference)).toBe(1);
    await customer.leave();
    await visit({ javaScriptEnabled: false });
    await page.goto(shop.emulator.dashboardUrl);
    expect(await paymentRow(page, reference).getAttribute('data-status')).toBe('success');
    await deliveryRows(page, reference).getByRole('link').first().click();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.locator('#attempt-2').waitFor();
  });

  it('is in French for a French browser', async () => {
    await customer.leave();
    await visit({ locale: 'fr-CI' });
    await openDashboard(page, shop);
    expect(await page.locator('html').getAttribute('lang')).toBe('fr');
    expect(await page.getByRole('heading', { name: 'Paiements' }).count()).toBe(1);
  });

  it('refuses a form of another site', async () => {
    const reference = randomUUID();
    const url = await shop.createLink({ reference });
    await openPayment(page, shop, url);
    const button = page.getByRole('button', { name: 'Pay', exact: true });
    const path =
      (await button.getAttribute('formaction')) ??
      (await page.locator('form', { has: button }).getAttribute('action'));
    const target = new URL(path!, page.url()).href;
    await page.goto(shop.basket);
    await page.setContent(
      `<form method="post" action="${target}"><button>Win a prize</button></form>`,
    );
    const [response] = await Promise.all([
      page.waitForResponse((answer) => answer.request().method() === 'POST'),
      page.getByRole('button').click(),
    ]);
    expect(response.status()).toBe(403);
    expect(await shop.readPayment(reference)).toMatchObject({ status: 'pending' });
  });

  describe('with faults', () => {
    interface Case {
      readonly isPaid: boolean;
      readonly answers: readonly (number | 'no answer')[][];
      readonly credits: 0 | 1;
    }
    const refused = (...statuses: (number | 'no answer')[]): Case => ({
      isPaid: true,
      answers: [statuses],
      credits: 0,
    });
    const credited: Case = { isPaid: true, answers: [[200]], credits: 1 };
    const CASES: Record<string, Case> = {
      duplicate: { isPaid: true, answers: Array<number[]>(10).fill([200, 503]), credits: 1 },
      repeated: { isPaid: true, answers: [[200], [200]], credits: 1 },
      late: credited,
      reordered: { isPaid: true, answers: [[200], [200]], credits: 1 },
      tampered: refused(401),
      wrong_secret: refused(401),
      unsigned: refused(401),
      // The signature is right, but the API does not confirm the payment.
      relabelled: { isPaid: false, answers: [[503]], credits: 0 },
      unknown_event: refused(200),
      re_serialised: refused(401),
      gzip: refused(415),
      two_signatures: refused(401),
      bom: refused(400),
      slow: refused(408),
      aborted: refused('no answer', 400),
    };

    it.each(Object.entries(CASES))(
      'sends the fault %s, which the shop withstands',
      async (fault, { isPaid, answers, credits }) => {
        const reference = randomUUID();
        await openPayment(page, shop, await shop.createLink({ reference }));
        if (isPaid) {
          await page.getByRole('button', { name: 'Pay without notification' }).click();
          await expect.poll(async () => (await shop.readPayment(reference)).status).toBe('success');
        }
        await faultButton(page, fault).click();
        await expect.poll(() => newestOf(reference)?.state, { timeout: 20_000 }).toBe('sent');
        const given = answersTo(reference);
        expect(given).toHaveLength(answers.length);
        for (const [index, answer] of given.entries()) expect(answers[index]).toContain(answer);
        expect(shop.credited.filter((entry) => entry === reference)).toHaveLength(credits);
        await openDashboard(page, shop);
        await deliveryRows(page, reference).first().waitFor();
        expect(await deliveryRows(page, reference).first().getAttribute('data-state')).toBe('sent');
      },
      SLOW_FAULTS,
    );

    it('offers no other fault', async () => {
      await openPayment(page, shop, await shop.createLink({ reference: randomUUID() }));
      const forms = await page.locator('form[data-fault]').all();
      const shown = await Promise.all(forms.map((form) => form.getAttribute('data-fault')));
      expect(shown.sort()).toEqual(Object.keys(CASES).sort());
    });
  });

  it.each(Object.entries(HOSTILE))(
    'shows a hostile text without running it: %s',
    async (_, text) => {
      const url = await shop.createLink({ reference: text, description: text });
      await openDashboard(page, shop);
      await shop.emulator.pay(text);
      const row = page.locator('li[data-status]').first();
      await expect.poll(() => row.getAttribute('data-reference')).toBe(text);
      await expect.poll(() => row.getAttribute('data-status')).toBe('success');
      await expectUnharmed(page);
      await openPayment(page, shop, url);
      await expectUnharmed(page);
      await shop.timesCredited(text);
      await openDelivery(
        page,
        shop,
        shop.emulator.deliveries().find(({ reference }) => reference === text)!.id,
      );
      await expectUnharmed(page);
    },
  );
});

/**
 * Checks that no text became a script or an element, and that the page does not scroll sideways.
 */
async function expectUnharmed(page: Page): Promise<void> {
  expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false);
  expect(await page.locator('img, iframe, [onerror], [onfocus]').count()).toBe(0);
  expect(await overhang(page)).toBe(0);
}
