import { afterEach, describe, expect, it, vi } from 'vitest';
import { EmulatorError, type EmulatorOptions } from '../src/index.js';
import { createLink, FIXED, FREE, postLink, readPayment } from './merchant.js';
import { setUp, start } from './set-up.js';

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

afterEach(() => void vi.useRealTimers());

describe('createLink', () => {
  it('returns the answer of the API without a request', async () => {
    const emulator = await start();
    const link = await emulator.createLink({ ...FIXED, single_use: true });
    expect(link).toMatchObject({ amount: 15_000, reference: 'order-1', status: 'pending' });
    expect((await fetch(link.url)).status).toBe(200);
    expect(await emulator.createLink(FREE)).not.toHaveProperty('amount');
  });

  it.each([
    ['invalid_request', { ...FIXED, amount: 1.5 }],
    ['invalid_request', undefined],
    ['invalid_request', { ...FIXED, amount: 15_000n }],
    ['reference_taken', FIXED],
  ])('fails with %s as the API does', async (code, fields) => {
    const emulator = await start();
    await emulator.createLink(FIXED);
    await expect(emulator.createLink(fields as never)).rejects.toMatchObject({
      name: 'EmulatorError',
      code,
    });
  });
});

describe('the errors of all methods', () => {
  it('have a code, and name a wrong argument', async () => {
    const { emulator } = await setUp();
    await emulator.createLink({ ...FIXED, single_use: true });
    await emulator.createLink(FREE);
    await emulator.cancel('order-1');
    const silent = await start();
    await silent.createLink(FIXED);
    const closed = await start();
    await closed.close();
    const one = { reference: 'order-1' };
    const failures: [string, () => unknown][] = [
      ['payment_not_found', () => emulator.pay('nothing')],
      ['payment_not_found', () => emulator.fail('nothing')],
      ['payment_not_found', () => emulator.cancel('nothing')],
      ['transition_not_allowed', () => emulator.pay('order-1')],
      ['transition_not_allowed', () => emulator.fail('order-1')],
      ['invalid_amount', () => emulator.pay('gift-1', { amount: 1 })],
      ['invalid_amount', () => emulator.pay('gift-1', { amount: 0 })],
      ['invalid_amount', () => emulator.pay('gift-1', { amount: 1_000.5 })],
      ['delivery_not_found', () => emulator.redeliver('nothing')],
      // Without an argument, as from JavaScript.
      ['reference must be a string', () => emulator.pay(undefined as never)],
      ['reference must be a string', () => emulator.fail(undefined as never)],
      ['reference must be a string', () => emulator.cancel(42 as never)],
      ['id must be a string', () => emulator.redeliver(undefined as never)],
      ['awaited must be an object', () => emulator.waitForDelivery(undefined as never)],
      ['reference must be a string', () => emulator.waitForDelivery({} as never)],
      ['state is an unknown', () => emulator.waitForDelivery({ ...one, state: 'x' } as never)],
      ['timeout must be a whole', () => emulator.waitForDelivery({ ...one, timeout: 0 })],
      ['status must be a whole', () => emulator.waitForDelivery({ ...one, status: 20 })],
      ['wait_timeout', () => emulator.waitForDelivery({ reference: 'order-1', timeout: 1 })],
      ['no_webhook', () => silent.redeliver('nothing')],
      ['no_webhook', () => silent.waitForDelivery({ reference: 'order-1' })],
      ['emulator_closed', () => closed.createLink(FIXED)],
      ['emulator_closed', () => closed.pay('order-1')],
      ['emulator_closed', () => closed.fail('order-1')],
      ['emulator_closed', () => closed.cancel('order-1')],
      ['emulator_closed', () => closed.waitForDelivery({ reference: 'order-1' })],
      ['emulator_closed', () => closed.redeliver('nothing')],
      ['emulator_closed', () => closed.reset()],
    ];
    for (const [code, fail] of failures) {
      const error: unknown = await Promise.resolve()
        .then(fail)
        .catch((thrown: unknown) => thrown);
      if (error instanceof EmulatorError) expect(error.code).toBe(code);
      else {
        const [option = ''] = code.split(' ');
        const message = expect.stringContaining(code) as string;
        const expected = { name: 'ConfigurationError', code: 'misconfigured', option, message };
        expect(error, `${code}: ${String(fail)}`).toMatchObject(expected);
      }
    }
  });
});

describe('waitForDelivery', () => {
  it('resolves as soon as the notification is acknowledged, and at once afterwards', async () => {
    const { emulator } = await setUp((_, count) => (count === 1 ? 503 : 200), {
      assumed: { firstRetryDelay: 1 },
    });
    await emulator.createLink(FIXED);
    await emulator.pay('order-1');
    const delivery = await emulator.waitForDelivery({ reference: 'order-1' });
    expect(delivery).toMatchObject({ state: 'delivered', reference: 'order-1', attemptCount: 2 });
    expect(await emulator.waitForDelivery({ reference: 'order-1', timeout: 1 })).toEqual(delivery);
  });

  it('resolves with the newest of two deliveries of one reference', async () => {
    const { emulator } = await setUp();
    await emulator.createLink(FIXED);
    for (const count of [1, 2]) {
      await emulator.pay('order-1');
      await vi.waitFor(() =>
        expect(emulator.deliveries().map(({ state }) => state)).toEqual(
          Array(count).fill('delivered'),
        ),
      );
    }
    const [, second] = emulator.deliveries();
    expect(await emulator.waitForDelivery({ reference: 'order-1' })).toEqual(second);
  });

  it('can be called before the payment', async () => {
    const { emulator } = await setUp();
    const delivered = emulator.waitForDelivery({ reference: 'order-1' });
    await emulator.createLink(FIXED);
    await emulator.createLink({ ...FIXED, reference: 'order-2' });
    await emulator.pay('order-2');
    await emulator.pay('order-1');
    expect(await delivered).toMatchObject({ reference: 'order-1' });
  });

  it('waits for an answer with the given status, and finds it behind a later answer', async () => {
    const { emulator } = await setUp((_, count) => (count === 1 ? 401 : 200), {
      assumed: { firstRetryDelay: 100_000, longestRetryDelay: 100_000 },
    });
    await emulator.createLink(FIXED);
    await emulator.pay('order-1');
    const refused = { reference: 'order-1', status: 401 };
    const { id, state } = await emulator.waitForDelivery(refused);
    expect(state).toBe('pending');
    await emulator.redeliver(id);
    expect(await emulator.waitForDelivery(refused)).toMatchObject({ id, state: 'delivered' });
  });

  it('explains a timeout by the state of the payment and its delivery', async () => {
    const unknown = { status: 503, body: '{"error":"unknown_order"}' };
    const { emulator, receiver } = await setUp(() => unknown, {
      assumed: { firstRetryDelay: 100_000, longestRetryDelay: 100_000 },
    });
    const wait = (): Promise<string> =>
      emulator
        .waitForDelivery({ reference: 'order-1', timeout: 1 })
        .then(String, (error: unknown) => (error as Error).message);
    expect(await wait()).toBe(
      'no notification for "order-1" was acknowledged within 1 ms: this reference has no payment',
    );
    await emulator.createLink(FIXED);
    expect(await wait()).toMatch(/none was sent: the payment is pending$/);
    await emulator.pay('order-1');
    await emulator.waitForDelivery({ reference: 'order-1', status: 503 });
    expect(await wait()).toMatch(/1 attempt, the last answered 503 unknown_order$/);
    await receiver.close();
    await emulator.redeliver(emulator.deliveries()[0]!.id);
    expect(await wait()).toMatch(
      /2 attempts, the last without a reply: nothing listens at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/,
    );
  });

  it('rejects if the emulator is reset or closed', async () => {
    const { emulator } = await setUp();
    const first = expect(emulator.waitForDelivery({ reference: 'x' })).rejects.toMatchObject({
      code: 'emulator_reset',
    });
    await emulator.reset();
    await first;
    const second = expect(emulator.waitForDelivery({ reference: 'x' })).rejects.toMatchObject({
      code: 'emulator_closed',
    });
    await emulator.close();
    await second;
  });
});

describe('reset', () => {
  it('forgets everything except addresses and secrets', async () => {
    const { emulator, receiver } = await setUp();
    const { baseUrl, apiKey } = emulator;
    const key = { 'Idempotency-Key': 'k' };
    await postLink(emulator, FIXED, key);
    await emulator.pay('order-1', { delivery: { times: 0 } });
    await emulator.reset();
    expect(emulator.deliveries()).toEqual([]);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ error: { code: 'not_found' } });
    expect((await postLink(emulator, { ...FIXED, amount: 1 }, key)).status).toBe(201);
    await emulator.pay('order-1');
    expect(await emulator.waitForDelivery({ reference: 'order-1' })).toMatchObject({
      state: 'delivered',
    });
    expect(receiver.received).toHaveLength(1);
    expect(emulator).toMatchObject({ baseUrl, apiKey });
  });

  it('stops earlier retries, delayed notifications and running attempts', async () => {
    const { emulator, receiver } = await setUp((_, count) => (count === 1 ? 'hang' : 503), {
      assumed: { firstRetryDelay: 1, longestRetryDelay: 5 },
    });
    for (const reference of ['hanging', 'retried', 'delayed'])
      await emulator.createLink({ ...FIXED, reference });
    await emulator.pay('hanging');
    await vi.waitUntil(() => receiver.received.length === 1, 10_000);
    await emulator.pay('retried');
    await emulator.pay('delayed', { delivery: { delay: 30 } });
    await vi.waitUntil(() => receiver.received.length > 2, 10_000);
    await emulator.reset();
    await emulator.createLink({ ...FIXED, reference: 'afterwards' });
    await emulator.pay('afterwards');
    await emulator.waitForDelivery({ reference: 'afterwards', status: 503 });
    const from = receiver.received.findIndex(({ body }) => body.includes('afterwards'));
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(
      receiver.received.slice(from).filter(({ body }) => !body.includes('afterwards')),
    ).toEqual([]);
    expect(emulator.deliveries()).toHaveLength(1);
  });
});

describe('onRequest', () => {
  it('gets each API request, also if it is refused, without the API key', async () => {
    const heard: Parameters<NonNullable<EmulatorOptions['onRequest']>>[0][] = [];
    const emulator = await start({ onRequest: (request) => heard.push(request) });
    await postLink(emulator, FIXED, { 'Idempotency-Key': 'k' });
    await postLink(emulator, { ...FIXED, amount: 2 }, { 'Idempotency-Key': 'k' });
    await fetch(`${emulator.baseUrl}/v1/payments/order-1?x=1`, {
      headers: { 'X-Api-Key': 'sk_live_wrong.key' },
    });
    await readPayment(emulator, 'order-1');
    await fetch(`${emulator.baseUrl}/v2`, { headers: { 'X-Api-Key': emulator.apiKey } });
    const path = '/api/v1/payments/order-1';
    expect(heard).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/payment-links',
        status: 201,
        reference: 'order-1',
        idempotencyKey: 'k',
      },
      { status: 409, code: 'idempotency_conflict', reference: 'order-1' },
      { method: 'GET', path: `${path}?x=1`, status: 401, code: 'unauthorized' },
      { path, status: 200, reference: 'order-1' },
      { status: 404, code: 'not_found', message: 'the API does not answer GET at this path' },
    ]);
    expect(heard[0]).not.toHaveProperty('code');
    expect(JSON.stringify(heard)).not.toMatch(/sk_live_/);
  });

  it('changes nothing if it throws, and its error is printed', async () => {
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    const fail = (): never => {
      throw new Error('the listener failed');
    };
    const emulator = await start({ onRequest: fail });
    expect((await postLink(emulator, FIXED)).status).toBe(201);
    expect(printed.mock.calls.map(String).join()).toContain('the listener failed');
    printed.mockRestore();
  });
});

describe('onAttempt', () => {
  it('gets each attempt when it has ended, with the time of the next one', async () => {
    const heard: unknown[] = [];
    const { emulator } = await setUp((_, count) => (count === 1 ? 503 : 200), {
      assumed: { firstRetryDelay: 1 },
      onAttempt: ({ reference, state, nextAttemptAt }, { number, response }) =>
        heard.push([reference, state, nextAttemptAt !== undefined, number, response?.status]),
    });
    await emulator.createLink(FIXED);
    await emulator.pay('order-1');
    await vi.waitUntil(() => heard.length === 2);
    expect(heard).toEqual([
      ['order-1', 'pending', true, 1, 503],
      ['order-1', 'delivered', false, 2, 200],
    ]);
  });
});

describe('emulators in tests', () => {
  it('run side by side', async () => {
    const [one, two] = [await setUp(), await setUp()];
    await Promise.all(
      [one, two].map(async ({ emulator }) => {
        await emulator.createLink(FIXED);
        await emulator.pay('order-1');
        await emulator.waitForDelivery({ reference: 'order-1' });
      }),
    );
    expect([one.receiver.received.length, two.receiver.received.length]).toEqual([1, 1]);
    expect(one.receiver.received[0]!.headers['x-service-signature']).not.toBe(
      two.receiver.received[0]!.headers['x-service-signature'],
    );
  });

  it('work with fake timers in every part', async () => {
    vi.useFakeTimers({ now: new Date('2030-01-01T00:00:00Z') });
    const { emulator } = await setUp((_, count) => (count < 3 ? 500 : 200), {
      assumed: { firstRetryDelay: 5 },
    });
    const url = await createLink(emulator);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(emulator.dashboardUrl)).status).toBe(200);
    await emulator.pay('order-1');
    const delivery = await emulator.waitForDelivery({ reference: 'order-1' });
    expect(delivery.attemptCount).toBe(3);
    expect(delivery.createdAt.getFullYear()).toBe(2030);
    await emulator.pay('order-1', { delivery: { delay: 1 } });
    await vi.waitUntil(() => emulator.deliveries()[1]?.state === 'delivered');
    await expect(emulator.waitForDelivery({ reference: 'x', timeout: 5 })).rejects.toMatchObject({
      code: 'wait_timeout',
    });
    await emulator.reset();
    await emulator.close();
  });
});
