import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEFAULTS } from '../src/contract/assumed.js';
import { startEmulator, type Emulator, type EmulatorOptions } from '../src/index.js';
import { Ledger } from '../src/payments/ledger.js';
import { call, createLink, FIXED, FREE, postLink, readPayment } from './merchant.js';
import { start } from './set-up.js';

let shared: Emulator;
let emulator: Emulator;

beforeAll(async () => {
  shared = await startEmulator();
});
beforeEach(async () => {
  emulator = shared;
  await emulator.reset();
});
afterAll(() => shared.close());

/** Replaces the emulator for this test. */
async function assume(assumed: EmulatorOptions['assumed']): Promise<void> {
  emulator = await start({ assumed });
}

const read = (reference: string, headers = {}): Promise<Response> =>
  call(emulator, `payments/${reference}`, { headers });

describe('POST /v1/payment-links', () => {
  it('answers a link of a fixed amount with 201 and exactly the fields of the contract', async () => {
    const fields = { ...FIXED, return_url: 'https://shop.example/thanks', single_use: true };
    const response = await postLink(emulator, fields);
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('application/json');
    const link = (await response.json()) as { token: string };
    expect(link).toEqual({
      token: expect.stringMatching(/^[\w-]{24}$/) as string,
      url: `${emulator.payUrl}/link/${link.token}`,
      amount: 15_000,
      currency: 'XOF',
      reference: 'order-1',
      status: 'pending',
    });
  });

  it('answers a link of a free amount without an amount', async () => {
    const response = await postLink(emulator, FREE);
    expect(response.status).toBe(201);
    const names = ['token', 'url', 'currency', 'reference', 'status'];
    expect(Object.keys((await response.json()) as object)).toEqual(names);
  });

  it.each([
    ['a body that is not JSON', '{'],
    ['an array', []],
    ['a link without an amount', { reference: 'r' }],
    ['a fixed amount beside bounds', { ...FIXED, amount_min: 1, amount_max: 2 }],
    ['an upper bound without a lower bound', { ...FREE, amount_min: undefined }],
    ['reversed bounds', { ...FREE, amount_min: 2, amount_max: 1 }],
    ['a free amount without a description', { ...FREE, description: undefined }],
    ['an amount with a fraction', { ...FIXED, amount: 1.5 }],
    ['an amount that is a string', { ...FIXED, amount: '1500' }],
    ['an amount of 0', { ...FIXED, amount: 0 }],
    ['an amount over the safe integers', '{"amount":9007199254740993,"reference":"r"}'],
    ['a link without a reference', { amount: 1 }],
    ['a blank reference', { amount: 1, reference: ' ' }],
    ['the reference ".."', { amount: 1, reference: '..' }],
    ['a reference with NUL', { amount: 1, reference: 'a\0b' }],
    ['a reference with an unpaired surrogate', '{"amount":1,"reference":"\\ud800"}'],
    ['a reference that is too long', { amount: 1, reference: 'r'.repeat(256) }],
    ['a return_url that is a script', { ...FIXED, return_url: 'javascript:alert(1)' }],
    ['a cancel_url of another scheme', { ...FIXED, cancel_url: 'ftp://shop.example/cancelled' }],
    ['a host that would start a CSP directive', { ...FIXED, return_url: 'http://a;script-src/' }],
    ['a cancel_url that is a path', { ...FIXED, cancel_url: '/cancelled' }],
    ['a single_use that is not a boolean', { ...FIXED, single_use: 'yes' }],
  ])('refuses %s', async (_, body) => {
    const response = await postLink(emulator, body);
    expect(response.status).toBe(400);
    const message = expect.any(String) as string;
    expect(await response.json()).toEqual({ error: { code: 'invalid_request', message } });
  });

  it('refuses bytes that are not UTF-8', async () => {
    const body = Buffer.from('{"amount":1,"reference":"\xff"}', 'latin1');
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body };
    expect((await call(emulator, 'payment-links', init)).status).toBe(400);
  });

  it('ignores unknown fields', async () => {
    expect((await postLink(emulator, { ...FIXED, colour: 'red' })).status).toBe(201);
  });

  it('refuses another Content-Type', async () => {
    const statusOf = async (type: string) =>
      (await postLink(emulator, FIXED, { 'Content-Type': type })).status;
    expect(await statusOf('text/plain')).toBe(415);
    expect(await statusOf('application/json; charset=utf-8')).toBe(201);
  });

  it('refuses an oversized body with and without Content-Length', async () => {
    expect((await postLink(emulator, ' '.repeat(65_537))).status).toBe(413);
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(40_000)),
    });
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;
    expect((await call(emulator, 'payment-links', init)).status).toBe(413);
  });

  it('refuses a second link with the same reference, or allows it if `assumed` says so', async () => {
    await createLink(emulator);
    const second = await postLink(emulator, FIXED);
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ error: { code: 'reference_taken' } });

    await assume({ duplicateReference: 'allow' });
    await createLink(emulator);
    await createLink(emulator, { ...FIXED, amount: 20 });
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ amount: 20 });
    await emulator.pay('order-1');
    await createLink(emulator, { ...FIXED, amount: 30 });
    const paid = { amount: 20, status: 'success' };
    expect(await readPayment(emulator, 'order-1')).toMatchObject(paid);
  });

  it('forgets only the oldest of 10,001 links, with its key', () => {
    const ledger = new Ledger({ assumed: DEFAULTS, payUrl: '', onSuccess: () => undefined });
    const create = (reference: string): unknown =>
      ledger.create({ reference, amount: 1 }, `key of ${reference}`).body;
    const links = Array.from({ length: 10_001 }, (_, index) => create(`order-${index}`));
    expect(ledger.findByReference('order-0')).toBeUndefined();
    expect(create('order-1')).toBe(links[1]);
    // The key of a forgotten link would answer with a page that is gone.
    expect(create('order-0')).not.toBe(links[0]);
  });
});

describe('Idempotency-Key', () => {
  const key = { 'Idempotency-Key': 'attempt-1' };
  const post = (body: object = FIXED, headers = key) => postLink(emulator, body, headers);

  it('repeats the same 201 for the same request, also after the payment, and refuses another', async () => {
    const first = await (await post()).text();
    await emulator.pay('order-1');
    const { description, ...fields } = FIXED;
    const again = await post({ description, ...fields });
    expect(again.status).toBe(201);
    expect(await again.text()).toBe(first);
    expect((await post({ ...FIXED, amount: 1 })).status).toBe(409);
  });

  it('creates one link for concurrent requests', async () => {
    const all = Array.from({ length: 10 }, async () => (await post()).text());
    expect(new Set(await Promise.all(all)).size).toBe(1);
  });

  it('does not remember a key whose request was refused', async () => {
    expect((await post({ ...FIXED, amount: -1 })).status).toBe(400);
    expect((await post()).status).toBe(201);
  });

  it('creates another link for each use under `ignore`', async () => {
    await assume({ replayedKey: 'ignore', duplicateReference: 'allow' });
    const other = await (await post()).text();
    expect(await (await post()).text()).not.toBe(other);
  });

  it.each([
    ['same_link', 201],
    ['same_link_200', 200],
    ['refuse', 409],
    ['refuse', 422],
    ['refuse', 500],
  ] as const)(
    'gets its second use answered under %s with %d, for the same body and another body',
    { tags: 'L02' },
    async (answer, status) => {
      const errorStatus = answer === 'refuse' ? { idempotency_conflict: status } : {};
      await assume({ replayedKey: answer, replayedKeyOtherBody: answer, errorStatus });
      const first = await (await post()).text();
      for (const body of [FIXED, { ...FIXED, amount: 1 }]) {
        const response = await post(body);
        const text = await response.text();
        expect(response.status).toBe(status);
        if (answer === 'refuse') expect(text).toContain('"idempotency_conflict"');
        else expect(text).toBe(first);
      }
      const payment = { amount: 15_000, status: 'pending' };
      expect(await readPayment(emulator, 'order-1')).toMatchObject(payment);
    },
  );

  it.each(['', 'k'.repeat(256)])('is refused if it is empty or too long: "%s"', async (text) => {
    expect((await post(FIXED, { 'Idempotency-Key': text })).status).toBe(400);
  });
});

describe('GET /v1/payments/{reference}', () => {
  it('reads a payment with exactly the fields of the contract', async () => {
    await createLink(emulator);
    expect(await readPayment(emulator, 'order-1')).toEqual({
      reference: 'order-1',
      type: 'payment',
      amount: 15_000,
      currency: 'XOF',
      status: 'pending',
    });
  });

  it('returns the chosen free amount, and before the choice amountBeforeChoice', async () => {
    await createLink(emulator, FREE);
    expect(await readPayment(emulator, 'gift-1')).toMatchObject({ amount: 0 });
    await emulator.pay('gift-1', { amount: 700 });
    expect(await readPayment(emulator, 'gift-1')).toMatchObject({ amount: 700, status: 'success' });

    await assume({ amountBeforeChoice: 'omit' });
    await createLink(emulator, FREE);
    expect(await readPayment(emulator, 'gift-1')).not.toHaveProperty('amount');

    const amountBeforeChoice = 3_000_000_000;
    await assume({ amountBeforeChoice });
    await createLink(emulator, FREE);
    expect(await readPayment(emulator, 'gift-1')).toMatchObject({ amount: amountBeforeChoice });
  });

  // packages/client/test/emulator.test.ts reads more references, through the client.
  it.each(['…/../x', '?x=1#y', 'constructor', '__proto__'])(
    'finds the reference %s unchanged',
    async (reference) => {
      await createLink(emulator, { ...FIXED, reference });
      expect(await readPayment(emulator, reference)).toMatchObject({ reference });
    },
  );

  it('answers 404 to an unknown or badly encoded reference', async () => {
    expect(await readPayment(emulator, 'nobody')).toMatchObject({ error: { code: 'not_found' } });
    expect((await read('%ff')).status).toBe(404);
    expect((await call(emulator, 'other')).status).toBe(404);
  });

  it('answers 404 to another method, and names the method', async () => {
    const response = await call(emulator, 'payment-links');
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('the API does not answer GET at this path');
  });
});

describe('assumed.statusAnswer', () => {
  it('replaces or delays the response to a status read, by payment', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await assume({
      statusAnswer: async ({ reference, payment }) => {
        if (reference === 'busy')
          return Response.json({}, { status: 429, headers: { 'Retry-After': '7' } });
        if (reference === 'other') return Response.json({ ...payment, amount: 1 });
        if (reference === 'slow') await released;
        return undefined;
      },
    });
    for (const reference of ['other', 'slow', 'plain'])
      await createLink(emulator, { ...FIXED, reference });
    const slow = readPayment(emulator, 'slow');
    const busy = await read('busy');
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await readPayment(emulator, 'other')).toMatchObject({ amount: 1, currency: 'XOF' });
    release();
    expect(await slow).toMatchObject({ amount: 15_000, currency: 'XOF' });
    expect(await readPayment(emulator, 'plain')).toMatchObject({ status: 'pending' });
    expect((await read('nobody')).status).toBe(404);
  });

  it('may return the same Response again', async () => {
    const busy = Response.json({ busy: true }, { status: 503 });
    await assume({ statusAnswer: () => busy });
    for (let count = 0; count < 3; count += 1) {
      const answer = await read('order-1');
      expect([answer.status, await answer.text()]).toEqual([503, '{"busy":true}']);
    }
  });

  it.each([null, 'busy', { status: 503 }])('must return a Response, not %j', async (returned) => {
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => printed.mockRestore());
    await assume({ statusAnswer: () => returned as never });
    const answer = await read('order-1');
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { error: { code: 'internal_error' } },
    ]);
    expect(String(printed.mock.calls[0]?.[0])).toContain(
      'assumed.statusAnswer must return a Response or undefined',
    );
    expect(printed).toHaveBeenCalledOnce();
  });
});

describe('authentication', () => {
  const statusWith = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${emulator.baseUrl}/v1/payments/nobody`, { headers })).status;

  it('accepts the key as Bearer and as X-Api-Key', async () => {
    expect(await statusWith({ Authorization: `Bearer ${emulator.apiKey}` })).toBe(404);
    expect(await statusWith({ Authorization: `bearer ${emulator.apiKey}` })).toBe(404);
    expect(await statusWith({ 'X-Api-Key': emulator.apiKey })).toBe(404);
  });

  it('refuses a missing, wrong or partial key and another scheme', async () => {
    const { apiKey } = emulator;
    const other = apiKey.slice(0, -1) + (apiKey.endsWith('A') ? 'B' : 'A');
    for (const headers of [
      {},
      { 'X-Api-Key': other },
      { 'X-Api-Key': apiKey.slice(0, -1) },
      { 'X-Api-Key': '' },
      { Authorization: apiKey },
      { Authorization: `Basic ${apiKey}` },
      { Authorization: 'Bearer ' },
      { Authorization: `Bearer ${other}`, 'X-Api-Key': apiKey },
      { Authorization: 'Basic eDp5', 'X-Api-Key': apiKey },
    ]) {
      expect(await statusWith(headers as Record<string, string>)).toBe(401);
    }
  });

  it('answers 401 with a challenge, and never prints the key', async () => {
    const response = await read('x', { 'X-Api-Key': 'sk_live_x.of-another' });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    const text = await response.text();
    expect(text).not.toContain('of-another');
    expect(text).not.toContain(emulator.apiKey);
  });
});

describe('the assumed rate limit', () => {
  it('answers excess requests with 429 and the remaining seconds until the window ends', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    await assume({ rateLimit: { requests: 2, seconds: 30 } });
    // A sender without a key must not use up the merchant's requests.
    for (let count = 0; count < 3; count++)
      expect((await read('order-1', { 'X-Api-Key': '' })).status).toBe(401);
    expect((await postLink(emulator, FIXED)).status).toBe(201);
    vi.setSystemTime(1_010_500);
    const answered = await read('order-1');
    expect([answered.status, answered.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const refused = await read('order-1');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('20');
    const message = expect.stringContaining('20 s') as string;
    expect(await refused.json()).toEqual({ error: { code: 'rate_limited', message } });
    vi.setSystemTime(1_029_999);
    expect((await read('order-1')).headers.get('retry-after')).toBe('1');
    vi.setSystemTime(1_030_000);
    for (const status of [200, 200, 429]) expect((await read('order-1')).status).toBe(status);
    // Somebody set the clock back.
    vi.setSystemTime(0);
    expect((await read('order-1')).status).toBe(200);
  });

  it('restarts on reset(), and is off by default', async () => {
    expect(DEFAULTS.rateLimit).toBe('off');
    await assume({ rateLimit: { requests: 1, seconds: 3_600 } });
    for (const status of [201, 429]) expect((await postLink(emulator, FIXED)).status).toBe(status);
    await emulator.reset();
    expect((await postLink(emulator, FIXED)).status).toBe(201);
  });

  it.each([
    5,
    null,
    {},
    { requests: 0, seconds: 1 },
    { requests: 1, seconds: 0.5 },
    { requests: 1, seconds: 1, burst: 2 },
  ])('refuses the invalid value %j', async (rateLimit) => {
    const starting = startEmulator({ assumed: { rateLimit: rateLimit as never } });
    await expect(starting).rejects.toThrow(/^assumed\.rateLimit must be 'off'/);
  });
});

it('errors have the assumed status and body', async () => {
  const errorStatus = { not_found: 410 };
  await assume({ errorStatus, errorBody: ({ code }) => ({ reason: code }) });
  const response = await read('x');
  expect([response.status, await response.json()]).toEqual([410, { reason: 'not_found' }]);
  expect((await postLink(emulator, {})).status).toBe(400);
});
