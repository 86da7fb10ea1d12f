import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FAULTS } from '../src/faults/faults.js';
import { startEmulator, type Emulator, type EmulatorOptions } from '../src/index.js';
import { createLink, FIXED, FREE, postLink, readPayment } from './merchant.js';
import { startReceiver } from './receiver.js';

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
});

async function setUp(answer?: Parameters<typeof startReceiver>[0], options: EmulatorOptions = {}) {
  const receiver = await startReceiver(answer);
  const emulator = await startEmulator({ ...options, webhook: { url: receiver.url } });
  open.push(emulator, receiver);
  return { receiver, emulator };
}

async function read(
  emulator: Emulator,
  path = '',
  language = 'en',
): Promise<{ response: Response; markup: string }> {
  const response = await fetch(`${emulator.dashboardUrl}${path}`, {
    headers: { 'Accept-Language': language },
  });
  return { response, markup: await response.text() };
}

function post(
  emulator: Emulator,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(fields);
  return fetch(`${emulator.dashboardUrl}${path}`, {
    method: 'POST',
    body,
    headers,
    redirect: 'manual',
  });
}

async function newPayment(emulator: Emulator, fields: object = FIXED): Promise<string> {
  return `/payments/${new URL(await createLink(emulator, fields)).pathname.split('/').at(-1)!}`;
}

const until = (holds: () => boolean): Promise<boolean> =>
  vi.waitUntil(holds, { timeout: 10_000, interval: 5 });

describe('the dashboard', () => {
  it('shows links, payments, deliveries and the URL of the service', async () => {
    const { receiver, emulator } = await setUp();
    await createLink(emulator);
    await createLink(emulator, FREE);
    await emulator.pay('order-1');
    await until(() => emulator.deliveries()[0]?.state === 'delivered');
    const { response, markup } = await read(emulator);
    expect(response.status).toBe(200);
    for (const text of [
      emulator.baseUrl,
      receiver.url,
      'F\u202fCFA\u00a015,000',
      'data-status="success"',
      'data-state="delivered"',
      'gift-1',
    ]) {
      expect(markup).toContain(text);
    }
    const french = await read(emulator, '', 'fr-SN');
    expect(french.markup).toContain('<html lang="fr">');
    expect(french.markup).toContain('15\u202f000\u00a0F\u202fCFA');
    expect((await fetch(emulator.payUrl, { redirect: 'manual' })).headers.get('location')).toBe(
      '/dashboard',
    );
  });

  it('shows neither the API key nor the webhook secret on any page', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator);
    await emulator.pay('order-1');
    await until(() => emulator.deliveries()[0]?.state === 'delivered');
    for (const page of ['', path, `/deliveries/${emulator.deliveries()[0]!.id}`]) {
      const { markup } = await read(emulator, page);
      expect(markup).not.toContain(emulator.webhookSecret);
      expect(markup).not.toContain(emulator.apiKey);
      expect(markup).not.toContain(emulator.apiKey.split('.')[1]);
    }
  });

  it('loads no resource, and runs only the script that its policy names', async () => {
    const { emulator } = await setUp();
    const { response, markup } = await read(emulator, await newPayment(emulator));
    const policy = response.headers.get('content-security-policy')!;
    const hashOf = (tag: string): string => {
      const content = new RegExp(`<${tag}>(.*)</${tag}>`, 's').exec(markup)![1]!;
      return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
    };
    expect(policy).toContain(`style-src ${hashOf('style')};`);
    expect(policy).toContain(`script-src ${hashOf('script')};`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toContain('unsafe');
    expect(markup).not.toMatch(/ style=| on\w+=|\bsrc=|@import|url\(/);
    expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(response.headers.get('cache-control')).toBe('no-store');
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
    const path = await newPayment(emulator, {
      ...FIXED,
      reference,
      description: reference,
      return_url: `https://shop.example/?a=${reference}`,
    });
    await emulator.pay(reference);
    await until(() => emulator.deliveries()[0]?.state === 'delivered');
    for (const page of [
      '',
      path,
      `/deliveries/${emulator.deliveries()[0]!.id}`,
      `?q=${encodeURIComponent(reference)}`,
    ]) {
      const { response, markup } = await read(emulator, page);
      expect(response.status).toBe(200);
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(markup.match(/<script/g)).toHaveLength(1);
      if (/[<>"']/.test(reference)) expect(markup).not.toContain(reference);
      const shown = markup.replace(/ (data-reference|value)="[^"]*"/g, '');
      expect(shown).not.toMatch(/[\u001b\u202e\r]/);
    }
  });

  it('shows invisible characters by their code point', async () => {
    const { emulator } = await setUp();
    const { markup } = await read(
      emulator,
      await newPayment(emulator, { ...FIXED, reference: 'a\u202Eb\u001Bc' }),
    );
    expect(markup).toContain('a<span class="sign">U+202E</span>b<span class="sign">U+001B</span>c');
  });

  it('filters by part of the reference and by status, page by page', async () => {
    const { emulator } = await setUp();
    for (let index = 0; index < 30; index++)
      await createLink(emulator, { ...FIXED, reference: `order-${index}` });
    await createLink(emulator, { ...FIXED, reference: 'gift' });
    await emulator.fail('gift');
    const shown = async (query: string): Promise<string[]> =>
      [
        ...(await read(emulator, query)).markup.matchAll(/data-reference="([^"]*)" data-status/g),
      ].map(([, reference]) => reference!);
    expect(await shown('')).toHaveLength(25);
    expect((await shown(''))[0]).toBe('gift');
    expect(await shown('?page=2')).toHaveLength(6);
    expect(await shown('?page=99')).toHaveLength(6);
    expect(await shown('?page=x')).toHaveLength(25);
    expect(await shown('?q=gif')).toEqual(['gift']);
    expect(await shown('?status=failed')).toEqual(['gift']);
    expect(await shown('?status=pending&q=order-2&page=1')).toHaveLength(11);
    expect(await shown('?q=%00%F0')).toEqual([]);
  });

  it('answers 404 to unknown pages and forms', async () => {
    const { emulator } = await setUp();
    for (const path of ['/payments/x', '/deliveries/x', '/nothing'])
      expect((await read(emulator, path)).response.status).toBe(404);
    for (const path of ['/payments/x/pay', '/payments/x/faults', '/deliveries/x/resend']) {
      expect((await post(emulator, path)).status).toBe(404);
    }
  });
});

describe('the form of a link', () => {
  const FIELDS = {
    kind: 'fixed',
    amount: '15 000',
    reference: 'by-form',
    description: '',
    return_url: '',
    cancel_url: '',
  };

  it('creates a link with a fixed amount without its empty fields', async () => {
    const { emulator } = await setUp();
    const response = await post(emulator, '', { ...FIELDS, amount_min: '5', single_use: 'true' });
    expect(response.status).toBe(303);
    expect(
      (await read(emulator, response.headers.get('location')!.replace('/dashboard', ''))).markup,
    ).toContain('by-form');
    expect(await readPayment(emulator, 'by-form')).toMatchObject({
      amount: 15_000,
      status: 'pending',
    });
  });

  it('creates a link with a free amount', async () => {
    const { emulator } = await setUp();
    const fields = {
      kind: 'free',
      amount: '',
      amount_min: '5',
      amount_max: '10',
      reference: 'f',
      description: 'what you like',
    };
    expect((await post(emulator, '', fields)).status).toBe(303);
    expect(await emulator.pay('f', { amount: 7 })).toMatchObject({ amount: 7 });
  });

  it.each([
    ['amount', { amount: '1.5' }],
    ['amount', { amount: '' }],
    ['amount', { amount: '0' }],
    ['reference', { reference: '' }],
    ['reference', { reference: '..' }],
    ['reference', { reference: 'taken' }],
    ['description', { kind: 'free', amount_min: '1', amount_max: '2', description: '' }],
    ['amount_max', { kind: 'free', amount_min: '3', amount_max: '2', description: 'd' }],
    ['return_url', { return_url: 'javascript:alert(1)' }],
    ['cancel_url', { cancel_url: '/basket' }],
  ])('returns with the field %s marked for %j and keeps the other input', async (field, fields) => {
    const { emulator } = await setUp();
    await createLink(emulator, { ...FIXED, reference: 'taken' });
    const response = await post(emulator, '', { ...FIELDS, ...fields });
    const markup = await response.text();
    expect(response.status).toBe(422);
    expect(/<input id="([^"]+)"[^>]*aria-invalid="true"/.exec(markup)?.[1]).toBe(field);
    expect(markup.match(/aria-invalid="true"/g)).toHaveLength(1);
    expect(markup).toContain('role="alert"');
    expect(markup).toContain('<details class="card" id="create" open');
    if (!('reference' in fields)) expect(markup).toContain('value="by-form"');
    expect(await readPayment(emulator, 'by-form')).toMatchObject({
      error: { code: 'not_found' },
    });
  });

  it('refuses an oversized or incomplete form', async () => {
    const { emulator } = await setUp();
    expect((await post(emulator, '', { ...FIELDS, description: 'x'.repeat(70_000) })).status).toBe(
      413,
    );
    expect((await post(emulator, '', {})).status).toBe(422);
  });
});

describe('the page of a payment', () => {
  it('pays and sends a notification', async () => {
    const { receiver, emulator } = await setUp();
    const path = await newPayment(emulator);
    const response = await post(emulator, `${path}/pay`);
    expect([response.status, response.headers.get('location')]).toEqual([303, `/dashboard${path}`]);
    await until(() => receiver.received.length === 1);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'success' });
  });

  it('pays once if one page is submitted ten times', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator);
    const page = /name="page" value="([^"]+)"/.exec((await read(emulator, path)).markup)![1]!;
    await Promise.all(Array.from({ length: 10 }, () => post(emulator, `${path}/pay`, { page })));
    expect(emulator.deliveries()).toHaveLength(1);
  });

  it('drops only the notification of this payment', async () => {
    const { emulator } = await setUp();
    await post(emulator, `${await newPayment(emulator)}/pay`, { notification: 'drop' });
    expect(emulator.deliveries()).toMatchObject([{ state: 'dropped' }]);
    const { markup } = await read(emulator, `/deliveries/${emulator.deliveries()[0]!.id}`);
    expect(markup).toContain('The emulator dropped this notification');
    await createLink(emulator, { ...FIXED, reference: 'order-2' });
    await emulator.pay('order-2');
    expect(emulator.deliveries()[1]!.state).not.toBe('dropped');
  });

  it('drops no later notification if the payment cannot be paid', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator, { ...FIXED, single_use: true });
    await emulator.pay('order-1');
    await post(emulator, `${path}/pay`, { notification: 'drop' });
    emulator.disturb({ kind: 'delay', delay: 1, reference: 'order-1', count: 1 });
    expect(emulator.deliveries()).toHaveLength(1);
  });

  it('fails and cancels a payment', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator);
    await post(emulator, `${path}/fail`);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'failed' });
    await post(emulator, `${path}/cancel`);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'cancelled' });
    expect((await read(emulator, path)).markup).toContain('This payment is closed.');
  });

  it('refuses an amount outside the bounds and marks the field', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator, FREE);
    const response = await post(emulator, `${path}/pay`, { amount: '499' });
    expect(response.status).toBe(422);
    expect(await response.text()).toMatch(/role="alert".*aria-invalid="true"/s);
    expect((await post(emulator, `${path}/pay`, { amount: '500' })).status).toBe(303);
  });

  it.each(Object.keys(FAULTS))(
    'sends the fault %s and shows whether the answer is as expected',
    async (fault) => {
      const { emulator } = await setUp(() => 200, { assumed: { deliveryTimeout: 1_000 } });
      const path = await newPayment(emulator);
      expect((await read(emulator, path)).markup).toContain(`data-fault="${fault}"`);
      const response = await post(emulator, `${path}/faults`, { fault });
      expect(response.status).toBe(303);
      const [delivery] = emulator.deliveries();
      expect(delivery).toMatchObject({ fault });
      expect(response.headers.get('location')).toBe(`/dashboard/deliveries/${delivery!.id}`);
      // These two faults take long on purpose.
      if (fault === 'late' || fault === 'slow') return;
      await until(() => emulator.deliveries()[0]!.state === 'sent');
      const { markup } = await read(emulator, `/deliveries/${delivery!.id}`);
      const { verdict } = emulator.deliveries()[0]!;
      const words = {
        expected: 'As expected',
        tolerated: 'Accepted, but a stricter answer is safer',
        unexpected: 'Not as expected',
      };
      expect(markup).toContain(`>${words[verdict!]}<`);
      expect(markup).toContain('For a payment with the status: Pending.');
      expect((await read(emulator, path)).markup).toMatch(
        new RegExp(`id="last-${fault}".*?>${words[verdict!]}<`, 's'),
      );
    },
  );

  it('runs all faults with one button, without a second concurrent run', async () => {
    const { emulator } = await setUp(({ headers }) =>
      headers['x-service-signature'] === undefined ? 401 : 200,
    );
    const path = await newPayment(emulator);
    const answers = await Promise.all([
      post(emulator, `${path}/faults`, { fault: 'all' }),
      post(emulator, `${path}/faults`, { fault: 'all' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(answers[0].headers.get('location')).toBe(`/dashboard${path}#faults`);
    await until(
      () =>
        emulator.deliveries().filter(({ state }) => state === 'sent').length ===
        Object.keys(FAULTS).length,
    );
    const { markup } = await read(emulator, path);
    for (const fault of Object.keys(FAULTS)) expect(markup).toContain(`id="last-${fault}"`);
    expect(emulator.deliveries()).toHaveLength(Object.keys(FAULTS).length);
  }, 30_000);

  it('shows a refused or unanswered delivery as failed', async () => {
    const { emulator, receiver } = await setUp(() => 503, {
      assumed: { firstRetryDelay: 100_000, longestRetryDelay: 100_000 },
    });
    await newPayment(emulator);
    await emulator.pay('order-1');
    await emulator.waitForDelivery({ reference: 'order-1', status: 503 });
    expect((await read(emulator)).markup).toContain(
      '<span class="badge bad">Not acknowledged, retrying</span>',
    );
    await receiver.close();
    await emulator.redeliver(emulator.deliveries()[0]!.id);
    const { markup } = await read(emulator);
    expect(markup).toContain('<span class="badge bad">No answer, retrying</span>');
    expect(markup).toMatch(/nothing listens at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)/);
  });

  it('refuses unknown faults, and every fault if there is no webhook', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator);
    for (const fault of ['', 'nope', 'constructor'])
      expect((await post(emulator, `${path}/faults`, { fault })).status).toBe(400);
    const without = await startEmulator();
    open.push(without);
    const other = await newPayment(without);
    expect((await post(without, `${other}/faults`, { fault: 'late' })).status).toBe(400);
    expect((await read(without, other)).markup).not.toContain('data-fault');
    expect((await read(without)).markup).toContain('webhook.url');
  });
});

describe('the page of a delivery', () => {
  it('shows the sent bytes, the answer and the next attempt, and can resend', async () => {
    const { receiver, emulator } = await setUp(
      (_, count) => (count === 1 ? { status: 500, body: 'not yet' } : 200),
      {
        assumed: { firstRetryDelay: 1_000_000, longestRetryDelay: 1_000_000 },
      },
    );
    await createLink(emulator);
    await emulator.pay('order-1');
    await until(() => emulator.deliveries()[0]?.nextAttemptAt !== undefined);
    const { id, attempts, nextAttemptAt } = emulator.deliveries()[0]!;
    const { markup } = await read(emulator, `/deliveries/${id}`);
    expect(markup).toContain(
      `X-Service-Signature: ${attempts[0]!.request.headers['X-Service-Signature']!}`,
    );
    expect(markup).toContain('{&quot;reference&quot;:&quot;order-1&quot;}');
    expect(markup).toContain('HTTP 500');
    expect(markup).toContain('not yet');
    expect(markup).toContain(nextAttemptAt!.toISOString());
    expect((await post(emulator, `/deliveries/${id}/resend`)).status).toBe(303);
    await until(() => emulator.deliveries()[0]!.state === 'delivered');
    expect(receiver.received).toHaveLength(2);
    expect((await read(emulator, `/deliveries/${id}`)).markup).toMatch(
      /id="attempt-2".*id="attempt-1"/s,
    );
  });

  it('shows binary bytes in hexadecimal', async () => {
    const { emulator } = await setUp();
    await createLink(emulator);
    const { delivery } = await emulator.sendFault('order-1', 'gzip');
    expect((await read(emulator, `/deliveries/${delivery.id}`)).markup).toContain('<pre>1f 8b 08 ');
  });
});

describe('a resent delivery', () => {
  it('can go to another URL on this machine, whose answer does not end the retries', async () => {
    const { emulator } = await setUp(() => 503, {
      assumed: { firstRetryDelay: 100_000, longestRetryDelay: 100_000 },
    });
    const other = await startReceiver();
    open.push(other);
    await createLink(emulator);
    await emulator.pay('order-1');
    await emulator.waitForDelivery({ reference: 'order-1', status: 503 });
    const [before] = emulator.deliveries();
    const path = `/deliveries/${before!.id}`;
    expect((await post(emulator, `${path}/resend`, { url: other.url })).status).toBe(303);
    await until(() => other.received.length === 1);
    const [delivery] = emulator.deliveries();
    expect(delivery).toMatchObject({
      state: 'pending',
      attemptCount: 2,
      nextAttemptAt: before!.nextAttemptAt!,
    });
    expect(delivery!.attempts[1]!.request.url).toBe(other.url);
    for (const url of ['https://shop.example/hook', 'nothing', 'http://10.0.0.1/']) {
      const refused = await post(emulator, `${path}/resend`, { url });
      expect(refused.status).toBe(422);
      expect(await refused.text()).toMatch(/aria-invalid="true".*role="alert"/s);
    }
    expect(emulator.deliveries()[0]!.attemptCount).toBe(2);
  });

  it.each(['duplicate', 'gzip', 'bom', 'two_signatures', 're_serialised'] as const)(
    'has a curl command that sends the same bytes for the fault %s',
    async (fault) => {
      const { emulator, receiver } = await setUp();
      await createLink(emulator, { ...FIXED, reference: "it's [1-3] {a,b} é" });
      const { delivery } = await emulator.sendFault(
        "it's [1-3] {a,b} é",
        fault,
        fault === 'duplicate' ? { times: 1 } : {},
      );
      const { markup } = await read(emulator, `/deliveries/${delivery.id}`);
      const shown = /<pre id="curl-1-text">(.*?)<\/pre>/s.exec(markup)![1]!;
      const line = shown.replace(
        /&(amp|lt|gt|quot|#39);/g,
        (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name]!,
      );
      expect(line).toContain(' -g ');
      await promisify(execFile)('/bin/sh', ['-c', line]);
      const [sent, copied] = receiver.received;
      expect(receiver.received).toHaveLength(2);
      expect(copied!.body).toEqual(sent!.body);
      for (const name of [
        'x-service-event',
        'x-service-signature',
        'content-type',
        'content-encoding',
      ]) {
        expect(copied!.headers[name]).toBe(sent!.headers[name]);
      }
    },
  );
});

describe('the timeline', () => {
  it('shows and filters requests, payments and notifications in one order', async () => {
    const { emulator } = await setUp();
    await fetch(`${emulator.baseUrl}/v1/payments/order-1`, {
      headers: { 'X-Api-Key': 'sk_live_wrong.key' },
    });
    await createLink(emulator);
    await createLink(emulator, { ...FIXED, reference: 'order-2' });
    await postLink(emulator, { ...FIXED, amount: 1 });
    await emulator.pay('order-1');
    await emulator.waitForDelivery({ reference: 'order-1' });
    const kinds = async (query: string): Promise<string[]> =>
      [...(await read(emulator, query)).markup.matchAll(/data-kind="(\w+)"/g)].map(
        ([, kind]) => kind!,
      );
    expect((await kinds('/timeline')).sort()).toEqual(
      [
        'delivery',
        'payment',
        'payment',
        'payment',
        'request',
        'request',
        'request',
        'request',
      ].sort(),
    );
    expect((await kinds('/timeline'))[0]).toBe('delivery');
    expect(await kinds('/timeline?kind=request')).toEqual(Array(4).fill('request'));
    expect((await kinds('/timeline?q=order-2')).sort()).toEqual(['payment', 'request']);
    const { markup } = await read(emulator, '/timeline');
    expect(markup).toContain('reference_taken: another payment link has this reference');
    expect(markup).toContain('unauthorized: the API key is missing or wrong');
    expect(markup).not.toContain('sk_live_');
    const { token } = await emulator.createLink({ ...FIXED, reference: 'order-3' });
    expect(await kinds(`/payments/${token}`)).toEqual(['payment']);
    expect((await read(emulator)).markup).toContain('href="/dashboard/timeline"');
  });
});

describe('other sites', () => {
  const FOREIGN = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ];

  it('cannot submit a form of the dashboard', async () => {
    const { emulator } = await setUp();
    const path = await newPayment(emulator);
    await emulator.pay('order-1');
    await until(() => emulator.deliveries()[0]?.state === 'delivered');
    const { id } = emulator.deliveries()[0]!;
    for (const headers of FOREIGN) {
      for (const target of [
        '',
        `${path}/pay`,
        `${path}/fail`,
        `${path}/cancel`,
        `${path}/faults`,
        `/deliveries/${id}/resend`,
      ]) {
        const response = await post(
          emulator,
          target,
          { fault: 'duplicate', amount: '1', reference: 'evil' },
          headers,
        );
        expect(response.status).toBe(403);
      }
    }
    expect(emulator.deliveries()).toMatchObject([{ attemptCount: 1 }]);
    expect(await readPayment(emulator, 'evil')).toMatchObject({ error: { code: 'not_found' } });
  });

  it('cannot open the live stream', async () => {
    const { emulator } = await setUp();
    for (const headers of FOREIGN) {
      expect(
        (
          await fetch(`${emulator.dashboardUrl}/events`, {
            headers: headers as Record<string, string>,
          })
        ).status,
      ).toBe(403);
    }
  });
});

describe('the live stream', () => {
  const decoder = new TextDecoder();

  async function listen(emulator: Emulator) {
    const controller = new AbortController();
    const response = await fetch(`${emulator.dashboardUrl}/events`, { signal: controller.signal });
    const heard = { text: '', isOver: false };
    const reading = (async () => {
      for await (const chunk of response.body ?? [])
        heard.text += decoder.decode(chunk as Uint8Array);
    })()
      .catch(() => undefined)
      .finally(() => (heard.isOver = true));
    return {
      response,
      heard,
      leave: () => {
        controller.abort();
        return reading;
      },
    };
  }

  const changesIn = ({ text }: { text: string }): number => text.split('event: change').length - 1;

  it('reports every kind of change, and combines a burst', async () => {
    const { emulator } = await setUp();
    const { response, heard, leave } = await listen(emulator);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    let told = 0;
    const expectMore = async (change: () => unknown): Promise<void> => {
      await change();
      await until(() => changesIn(heard) > told);
      told = changesIn(heard);
    };
    await expectMore(() => createLink(emulator));
    await expectMore(() => emulator.fail('order-1'));
    await expectMore(() => emulator.pay('order-1'));
    await until(() => emulator.deliveries()[0]?.state === 'delivered');
    await expectMore(() => emulator.sendFault('order-1', 'tampered'));
    const before = changesIn(heard);
    for (let index = 0; index < 50; index++)
      await createLink(emulator, { ...FIXED, reference: `burst-${index}` });
    await until(() => changesIn(heard) > before);
    expect(changesIn(heard) - before).toBeLessThan(50);
    await leave();
  });

  it('ends when the emulator closes', async () => {
    const { emulator } = await setUp();
    const { heard } = await listen(emulator);
    await until(() => heard.text !== '');
    await emulator.close();
    await until(() => heard.isOver);
  });

  it('is limited to 32 listeners at a time', async () => {
    const { emulator } = await setUp();
    const listeners = await Promise.all(Array.from({ length: 32 }, () => listen(emulator)));
    expect(listeners.every(({ response }) => response.status === 200)).toBe(true);
    const status = async (): Promise<number> => {
      const { response, leave } = await listen(emulator);
      await leave();
      return response.status;
    };
    expect(await status()).toBe(503);
    await listeners[0]!.leave();
    await vi.waitUntil(async () => (await status()) === 200, { timeout: 10_000 });
    for (const { leave } of listeners) await leave();
  });

  it('ends at once for HEAD', async () => {
    const { emulator } = await setUp();
    for (let index = 0; index < 40; index++) {
      expect((await fetch(`${emulator.dashboardUrl}/events`, { method: 'HEAD' })).status).toBe(200);
    }
    const { response, leave } = await listen(emulator);
    expect(response.status).toBe(200);
    await leave();
  });

  it('does not buffer events for a listener that does not read', async () => {
    const { Changes } = await import('../src/pages/dashboard/changes.js');
    const { LiveStreams } = await import('../src/pages/dashboard/live-stream.js');
    const changes = new Changes(1);
    const streams = new LiveStreams(changes);
    const reader = streams.open()!.getReader();
    for (let index = 0; index < 300; index++) {
      changes.tell();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    streams.close();
    let bytes = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read())
      bytes += next.value.byteLength;
    expect(bytes).toBeLessThan(1_200);
    changes.close();
  });
});
