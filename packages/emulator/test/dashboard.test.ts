import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { Emulator } from '../src/index.js';
import { createLink, FIXED, FREE } from './merchant.js';
import { setUp } from './set-up.js';

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

async function read(
  emulator: Emulator,
  path = '',
  language = 'en',
): Promise<{ response: Response; markup: string }> {
  const headers = { 'Accept-Language': language };
  const response = await fetch(`${emulator.dashboardUrl}${path}`, { headers });
  return { response, markup: await response.text() };
}

function resend(
  emulator: Emulator,
  path: string,
  delivery: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams({ delivery });
  const url = `${emulator.dashboardUrl}${path}/resend`;
  return fetch(url, { method: 'POST', body, headers, redirect: 'manual' });
}

async function newPayment(emulator: Emulator, fields: object = FIXED): Promise<string> {
  return `/payments/${new URL(await createLink(emulator, fields)).pathname.split('/').at(-1)!}`;
}

async function paid(emulator: Emulator, fields: object = FIXED): Promise<string> {
  const path = await newPayment(emulator, fields);
  const { reference } = fields as typeof FIXED;
  await emulator.pay(reference);
  await emulator.waitForDelivery({ reference });
  return path;
}

describe('the dashboard', () => {
  it('shows the addresses, and payments by description, amount and last answer', async () => {
    const { receiver, emulator } = await setUp();
    await createLink(emulator, FREE);
    await paid(emulator);
    const { response, markup } = await read(emulator);
    expect(response.status).toBe(200);
    for (const text of [
      emulator.baseUrl,
      receiver.url,
      '<bdi>A basket</bdi></a> F\u202fCFA\u00a015,000',
      'F\u202fCFA\u00a0500 to F\u202fCFA\u00a020,000',
      'data-status="success" data-delivery="delivered"',
      'gift-1',
    ]) {
      expect(markup).toContain(text);
    }
    expect((await fetch(emulator.payUrl, { redirect: 'manual' })).headers.get('location')).toBe(
      '/dashboard',
    );
  });

  it('shows neither the API key nor the webhook secret on any page', async () => {
    const { emulator } = await setUp();
    for (const page of ['', await paid(emulator)]) {
      const { markup } = await read(emulator, page);
      expect(markup).not.toContain(emulator.webhookSecret);
      expect(markup).not.toContain(emulator.apiKey.split('.')[1]);
    }
  });

  it('loads no resource and runs no script', async () => {
    const { emulator } = await setUp();
    const { response, markup } = await read(emulator, await newPayment(emulator));
    const policy = response.headers.get('content-security-policy')!;
    const hashOf = (tag: string): string => {
      const content = new RegExp(`<${tag}>(.*)</${tag}>`, 's').exec(markup)![1]!;
      return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
    };
    expect(policy).toContain(`style-src ${hashOf('style')};`);
    expect(policy).not.toContain('script-src');
    expect(markup).not.toContain('<script');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("base-uri 'none'; frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(markup).not.toMatch(/ style=| on\w+=|\bsrc=|@import|url\(/);
    expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const french = await read(emulator, '', 'fr-SN');
    expect(french.markup).toContain('<html lang="en">');
  });

  it.each([
    '<script>window.harmed = 1</script>',
    '"><img src=x onerror="window.harmed = 1">',
    `' autofocus onfocus='window.harmed = 1`,
    'a\r\nSet-Cookie: harmed=1',
    '\u001B[31mred\u001B[0m',
    '\u202E000 51',
    'W'.repeat(255),
    '</title></style></script><b>',
  ])('shows the reference %j as harmless text', async (reference) => {
    const { emulator } = await setUp(({ body }) => ({ status: 200, body: body.toString() }));
    const path = await paid(emulator, { ...FIXED, reference, description: reference });
    for (const page of ['', path]) {
      const { response, markup } = await read(emulator, page);
      expect(response.status).toBe(200);
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(markup).not.toContain('<script');
      if (/[<>"']/.test(reference)) expect(markup).not.toContain(reference);
      const shown = markup.replace(/ (data-reference|value)="[^"]*"/g, '');
      expect(shown).not.toMatch(/[\u001b\u202e\r]/);
      if (page === '') expect(shown).not.toContain('W'.repeat(61));
    }
  });

  it('names invisible characters by their code point', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator, { amount: 1, reference: 'a\u202Eb\u001Bc' });
    expect((await read(emulator, path)).markup).toContain('<bdi>a‹U+202E›b‹U+001B›c</bdi>');
  });

  it('shows the newest 100 payments', async () => {
    const { emulator } = await setUp();
    for (let index = 0; index <= 100; index++)
      await emulator.createLink({ ...FIXED, reference: `order-${index}` });
    const { markup } = await read(emulator);
    expect(markup).toContain('The newest 100 of 101.');
    expect(/<li data-reference="([^"]*)"/.exec(markup)?.[1]).toBe('order-100');
    expect(markup).not.toContain('data-reference="order-0"');
  });

  it('answers 404 to unknown pages and forms', async () => {
    const { emulator } = await setUp();
    for (const path of ['/payments/x', '/nothing'])
      expect((await read(emulator, path)).response.status).toBe(404);
    expect((await resend(emulator, '/payments/x', 'y')).status).toBe(404);
    expect((await resend(emulator, await newPayment(emulator), 'y')).status).toBe(404);
  });
});

describe('the page of a payment', () => {
  const unknown = { status: 503, body: '{"error":"unknown_order"}' };

  it('shows the newest notification first, with its last answer, on each page', async () => {
    const answers = [200, 500, unknown];
    const { emulator } = await setUp((_, count) => answers[count - 1]!, {
      assumed: { firstRetryDelay: 100_000, longestRetryDelay: 100_000 },
    });
    const path = await paid(emulator);
    await emulator.pay('order-1');
    await emulator.waitForDelivery({ reference: 'order-1', status: 500 });
    await emulator.redeliver(emulator.deliveries()[1]!.id);
    const { markup } = await read(emulator);
    expect(markup).toContain('not acknowledged: 503 unknown_order');
    const page = await read(emulator, path);
    const shown = page.markup.match(/not acknowledged: 503|: delivered|<code>\d+/g);
    expect(shown).toEqual([
      'not acknowledged: 503',
      ...['<code>503', '<code>500', ': delivered', '<code>200'],
    ]);
  });

  it('shows the request, the second in which it was sent, and the reply', async () => {
    const { emulator } = await setUp(() => ({ status: 200, headers: { 'X-Shop': 'yes' } }));
    const { markup } = await read(emulator, await paid(emulator));
    const sent = emulator.deliveries()[0]!.attempts[0]!.startedAt.toISOString();
    const time = `<time datetime="${sent}">${sent.slice(0, 10)} ${sent.slice(11, 19)}</time>`;
    for (const text of ['POST /webhooks/payments', 'X-Service-Signature: ', 'x-shop: yes', time])
      expect(markup).toContain(text);
    expect(markup).toContain('{&quot;reference&quot;:&quot;order-1&quot;}');
  });

  it('leads with description and amount, and links to the payment page', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator);
    const { markup } = await read(emulator, path);
    expect(markup).toContain('<h1><bdi>A basket</bdi></h1>');
    expect(markup.indexOf('15,000')).toBeLessThan(markup.indexOf('<bdi>order-1</bdi>'));
    expect(markup).toContain(`href="${path.replace('/payments', '/link')}"`);
  });

  it('sends a notification again, and returns to it', async () => {
    const { receiver, emulator } = await setUp();
    const path = await paid(emulator);
    const { id } = emulator.deliveries()[0]!;
    const response = await resend(emulator, path, id);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(`/dashboard${path}#delivery-${id}`);
    expect(receiver.received).toHaveLength(2);
    expect((await read(emulator, path)).markup).toContain('2 attempts');
  });

  it('does not send the notification of another payment', async () => {
    const { emulator } = await setUp();
    await paid(emulator);
    const other = await newPayment(emulator, { ...FIXED, reference: 'order-2' });
    expect((await resend(emulator, other, emulator.deliveries()[0]!.id)).status).toBe(404);
  });

  it('refuses a form of another site', async () => {
    const { emulator } = await setUp();
    const path = await paid(emulator);
    const { id } = emulator.deliveries()[0]!;
    const answer = await resend(emulator, path, id, { 'Sec-Fetch-Site': 'cross-site' });
    expect(answer.status).toBe(403);
    expect(emulator.deliveries()).toMatchObject([{ attemptCount: 1 }]);
  });
});
