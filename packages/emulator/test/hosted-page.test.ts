import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULTS } from '../src/contract/assumed.js';
import { startEmulator, type Emulator } from '../src/index.js';
import { parseEnteredAmount } from '../src/payments/entered-amount.js';
import { Ledger } from '../src/payments/ledger.js';
import { openPage } from './customer.js';
import { createLink, FIXED, FREE, readPayment } from './merchant.js';
import { start } from './set-up.js';

const WAYS = {
  return_url: 'https://shop.example/thanks?order=1',
  cancel_url: 'http://[::1]:8080/basket',
};

let shared: Emulator;
let emulator: Emulator;

beforeAll(async () => {
  // Only redeliver() would send these notifications.
  const assumed = { delivery: () => ({ times: 0 }) };
  shared = await startEmulator({ webhook: { url: 'http://127.0.0.1:9/' }, assumed });
});
beforeEach(async () => {
  emulator = shared;
  await emulator.reset();
});
afterAll(() => shared.close());

describe('the hosted page', () => {
  it('is in French for French customers, and in English for all others', async () => {
    const url = await createLink(emulator);
    const french = await openPage(url, { 'Accept-Language': 'de;q=0.9, fr-CI;q=0.8, en;q=0.2' });
    expect(french.markup).toContain('<html lang="fr">');
    expect(french.markup).toContain('Payer 15\u202F000\u00A0F\u202FCFA');
    expect(french.response.headers.get('vary')).toBe('Accept-Language');
    for (const language of ['de', '*', 'en-GB, fr;q=0.9', ';;q=,,']) {
      expect((await openPage(url, { 'Accept-Language': language })).markup).toContain(
        '<html lang="en">',
      );
    }
  });

  it("shows the merchant's name, and no room for it without a name", async () => {
    expect((await openPage(await createLink(emulator))).markup).not.toContain('class="merchant"');
    emulator = await start({ merchant: 'Chez <Awa>' });
    const { markup } = await openPage(await createLink(emulator));
    expect(markup).toContain('<p class="merchant"><bdi>Chez &lt;Awa&gt;</bdi></p>');
    expect(markup).toContain('<title>Payment – Chez &lt;Awa&gt;</title>');
  });

  it('escapes the text of the merchant', async () => {
    const url = await createLink(emulator, {
      amount: 5,
      reference: '"><b>ref',
      description: '<script>alert("1")</script>',
    });
    const { markup } = await openPage(url);
    expect(markup).not.toContain('<script>');
    expect(markup).not.toContain('<b>ref');
    expect(markup).toContain('&lt;script&gt;');
  });

  it('loads and runs nothing, and allows its own style in its policy', async () => {
    const { response, markup } = await openPage(await createLink(emulator, { ...FIXED, ...WAYS }));
    const policy = response.headers.get('content-security-policy')!;
    const style = /<style>(.*)<\/style>/s.exec(markup)![1]!;
    expect(policy).toContain(
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    );
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    // Browsers also check the redirect after a form against this.
    expect(policy).toContain("form-action 'self' https://shop.example http:;");
    expect(markup).not.toMatch(/<script|\bsrc=|@import|url\(/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('same-origin');
  });

  it('answers 404 to an unknown token', async () => {
    const { response, markup } = await openPage(`${emulator.payUrl}/link/unknown`);
    expect(response.status).toBe(404);
    expect(markup).toContain('Link not found');
    for (const action of ['pay', 'cancel', 'fail']) {
      expect(
        (await fetch(`${emulator.payUrl}/link/unknown/${action}`, { method: 'POST' })).status,
      ).toBe(404);
    }
  });
});

describe('paying', () => {
  it('succeeds and redirects to return_url unchanged', async () => {
    const page = await openPage(await createLink(emulator, { ...FIXED, ...WAYS }));
    const response = await page.submit('pay');
    expect([response.status, response.headers.get('location')]).toEqual([303, WAYS.return_url]);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({
      status: 'success',
      amount: 15_000,
    });
  });

  it('shows a receipt if there is no return_url', async () => {
    const url = await createLink(emulator);
    expect((await fetch(`${url}/receipt`)).url).toBe(url);
    const response = await (await openPage(url)).submit('pay');
    const receipt = await openPage(new URL(response.headers.get('location')!, url).href);
    expect(receipt.markup).toContain('We have received F\u202fCFA\u00a015,000.');
    expect((await fetch(`${url}x/receipt`)).status).toBe(404);
  });

  it.each([true, false])(
    'makes one payment and one notification for ten concurrent clicks (single_use %s)',
    async (single_use) => {
      const page = await openPage(await createLink(emulator, { ...FIXED, ...WAYS, single_use }));
      const responses = await Promise.all(Array.from({ length: 10 }, () => page.submit('pay')));
      expect(responses.map(({ headers }) => headers.get('location'))).toEqual(
        Array<string>(10).fill(WAYS.return_url),
      );
      expect(emulator.deliveries()).toHaveLength(1);
    },
  );

  it('remembers the newest 100 pages of a link that paid, and no more', () => {
    const ledger = new Ledger({ assumed: DEFAULTS, payUrl: '', onSuccess: () => undefined });
    ledger.create(FIXED, undefined);
    const { token } = ledger.findByReference('order-1')!;
    const pages = [...Array(101).keys(), 100, 1, 0].map(String);
    const outcomes = pages.map((page) => ledger.pay(token, 15_000, { page }));
    expect(outcomes.slice(-4)).toEqual(['paid', 'repeated', 'repeated', 'paid']);
  });

  it('closes a single-use link, also for pages that are already open', async () => {
    const url = await createLink(emulator, { ...FIXED, ...WAYS, single_use: true });
    const other = await openPage(url);
    await (await openPage(url)).submit('pay');
    expect((await other.submit('pay')).headers.get('location')).toBe(WAYS.return_url);
    expect(emulator.deliveries()).toHaveLength(1);
    const closed = await openPage(url);
    expect(closed.markup).toContain('Payment received');
    expect(closed.markup).toContain(`href="${WAYS.return_url}"`);
    expect(closed.markup).not.toContain('<form');
  });

  it('accepts a second payment of a reusable link and sends a notification for each', async () => {
    const url = await createLink(emulator);
    await (await openPage(url)).submit('pay');
    await (await openPage(url)).submit('pay');
    expect(emulator.deliveries()).toHaveLength(2);
    await (await openPage(url)).submit('fail');
    await (await openPage(url)).submit('cancel');
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'success' });
  });

  it('accepts a free amount within its bounds, with spaces as thousands separators', async () => {
    const page = await openPage(await createLink(emulator, FREE));
    expect(page.markup).toContain('From F\u202fCFA\u00a0500 to F\u202fCFA\u00a020,000');
    expect((await page.submit('pay', { amount: '1\u202F500' })).status).toBe(303);
    expect(await readPayment(emulator, 'gift-1')).toMatchObject({
      amount: 1_500,
      status: 'success',
    });
  });

  it.each(['', '499', '20001', '1e3', '-600', '600.5', '600,5', '0x300', '9'.repeat(40)])(
    'refuses the amount "%s"',
    (amount) => {
      const link = { token: '', url: '', status: 'pending', createdAt: new Date() } as const;
      expect(parseEnteredAmount({ ...FREE, ...link }, amount)).toBeUndefined();
    },
  );

  it.each(['', '<b>'])(
    'redirects to the page again for the invalid amount "%s", which back and reload then show',
    async (amount) => {
      const page = await openPage(await createLink(emulator, FREE));
      const response = await page.submit('pay', { amount });
      expect(response.status).toBe(303);
      const again = await openPage(
        new URL(response.headers.get('location')!, emulator.payUrl).href,
      );
      expect(again.response.status).toBe(200);
      expect(again.markup).toContain('aria-invalid="true"');
      expect(again.markup).not.toContain('<b>');
      expect(await readPayment(emulator, 'gift-1')).toMatchObject({ status: 'pending' });
      expect((await again.submit('pay', { amount: '600' })).status).toBe(303);
      expect(await readPayment(emulator, 'gift-1')).toMatchObject({ amount: 600 });
    },
  );

  it('ignores a submitted amount if the amount is fixed', async () => {
    const page = await openPage(await createLink(emulator));
    await page.submit('pay', { amount: '1' });
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ amount: 15_000 });
  });

  it('refuses a form that no page of the link sent', async () => {
    const url = await createLink(emulator);
    const answers = { '': 400, 'page=x': 400, 'page=%00': 400, [`page=${'a'.repeat(5_000)}`]: 413 };
    for (const [body, status] of Object.entries(answers)) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const response = await fetch(`${url}/pay`, { method: 'POST', headers, body });
      expect(response.status).toBe(status);
    }
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'pending' });
  });
});

describe('cancelling and failing', () => {
  it('redirects a cancelled payment to cancel_url and closes the link', async () => {
    const url = await createLink(emulator, { ...FIXED, ...WAYS });
    const before = await openPage(url);
    expect((await before.submit('cancel')).headers.get('location')).toBe(WAYS.cancel_url);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'cancelled' });
    const closed = await openPage(url);
    expect(closed.markup).toContain('Payment cancelled');
    expect(closed.markup).toContain(`href="${WAYS.cancel_url}"`);
    expect((await before.submit('pay')).headers.get('location')).toBe(new URL(url).pathname);
    expect((await before.submit('cancel')).headers.get('location')).toBe(WAYS.cancel_url);
    expect(emulator.deliveries()).toEqual([]);
  });

  it('shows a failure on the page and lets the customer try again', async () => {
    const url = await createLink(emulator, { ...FIXED, ...WAYS });
    expect((await (await openPage(url)).submit('fail')).headers.get('location')).toBe(
      new URL(url).pathname,
    );
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'failed' });
    const again = await openPage(url);
    expect(again.markup).toContain('The payment failed. You were not charged');
    await again.submit('pay');
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'success' });
  });

  it('does not change a paid single-use payment', async () => {
    const url = await createLink(emulator, { ...FIXED, ...WAYS, single_use: true });
    const other = await openPage(url);
    await (await openPage(url)).submit('pay');
    expect((await other.submit('cancel')).headers.get('location')).toBe(new URL(url).pathname);
    await other.submit('fail');
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'success' });
  });

  it('follows the assumed transitions', async () => {
    const none = { cancelled: [], failed: [], success: [] };
    emulator = await start({ assumed: { transitions: { pending: ['failed'], ...none } } });
    const url = await createLink(emulator);
    await expect(emulator.pay('order-1')).rejects.toThrow('it is pending');
    await emulator.fail('order-1');
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'failed' });
    const { markup } = await openPage(url);
    expect(markup).not.toContain('<form');
    expect(markup).toContain('<h1>Payment failed</h1><p>You were not charged.');
  });
});

describe('forms of other sites', () => {
  it.each([
    ['another origin', { Origin: 'https://evil.example' }],
    ['an opaque origin', { Origin: 'null' }],
    ['another port of this machine', { Origin: 'http://127.0.0.1:1' }],
    ['a cross-site request', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a same-site request', { 'Sec-Fetch-Site': 'same-site' }],
  ])('are refused if they have %s', async (_, headers) => {
    const page = await openPage(await createLink(emulator));
    for (const action of ['pay', 'cancel', 'fail'] as const)
      expect((await page.submit(action, {}, headers)).status).toBe(403);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'pending' });
  });

  it('are distinguished from the forms of the page, also behind a proxy with TLS', async () => {
    const page = await openPage(await createLink(emulator));
    for (const Origin of [emulator.payUrl, 'https://pay.example']) {
      const headers = { Origin, 'Sec-Fetch-Site': 'same-origin' };
      expect((await page.submit('pay', {}, headers)).status).toBe(303);
    }
  });
});
