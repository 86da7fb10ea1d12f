import { describe, expect, it, vi } from 'vitest';
import type { Emulator, EmulatorOptions } from '../src/index.js';
import { createLink, FIXED, readPayment } from './merchant.js';
import { setUp as setUpBoth } from './set-up.js';

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

async function setUp(
  options: EmulatorOptions = {},
  answer?: Parameters<typeof setUpBoth>[0],
): Promise<{ emulator: Emulator; order: () => string[] }> {
  const { emulator, receiver } = await setUpBoth(answer, options);
  const referenceIn = ({ body }: { readonly body: Buffer }): string =>
    (JSON.parse(body.toString()) as { readonly reference: string }).reference;
  return { emulator, order: () => receiver.received.map(referenceIn) };
}

type Choice = Parameters<Emulator['pay']>[1];

async function pay(emulator: Emulator, reference: string, choice?: Choice): Promise<void> {
  await createLink(emulator, { ...FIXED, reference });
  await emulator.pay(reference, choice);
}

const until = (holds: () => boolean): Promise<boolean> =>
  vi.waitUntil(holds, { timeout: 10_000, interval: 5 });

describe('the switches of one delivery', () => {
  it('send no notification with times: 0, while the API reports the payment', async () => {
    const { emulator, order } = await setUp();
    await pay(emulator, 'a', { delivery: { times: 0 } });
    await pay(emulator, 'b');
    await emulator.waitForDelivery({ reference: 'b' });
    expect(order()).toEqual(['b']);
    expect(emulator.deliveries()[0]).toMatchObject({ state: 'unsent', attemptCount: 0 });
    expect(await readPayment(emulator, 'a')).toMatchObject({ status: 'success' });
    await expect(emulator.waitForDelivery({ reference: 'a', timeout: 1 })).rejects.toThrow(
      'it was not sent, because its delivery has times: 0',
    );
  });

  it('let redeliver() send an unsent notification', async () => {
    const { emulator, order } = await setUp();
    await pay(emulator, 'a', { delivery: { times: 0 } });
    const { response } = await emulator.redeliver(emulator.deliveries()[0]!.id);
    expect(response?.status).toBe(200);
    expect(order()).toEqual(['a']);
    expect(emulator.deliveries()[0]).toMatchObject({ state: 'delivered' });
  });

  it('send the same notification twice at once with times: 2, and wait for both answers', async () => {
    const { emulator } = await setUp({}, (_, count) => (count === 1 ? 503 : 200));
    await pay(emulator, 'a', { delivery: { times: 2 } });
    const { attempts, attemptCount } = await emulator.waitForDelivery({ reference: 'a' });
    expect(attempts.map(({ response }) => response?.status).sort()).toEqual([200, 503]);
    expect(attemptCount).toBe(2);
    expect(
      new Set(attempts.map(({ request }) => request.headers['X-Service-Signature'])).size,
    ).toBe(1);
  });

  it('delay the first attempt, and report its time', async () => {
    const { emulator } = await setUp();
    const before = Date.now();
    await pay(emulator, 'a', { delivery: { delay: 80 } });
    const { nextAttemptAt } = emulator.deliveries()[0]!;
    expect(nextAttemptAt!.getTime()).toBeGreaterThanOrEqual(before + 78);
    const { attempts } = await emulator.waitForDelivery({ reference: 'a' });
    expect(attempts[0]!.startedAt.getTime() - before).toBeGreaterThanOrEqual(78);
  });

  it('hold a notification with afterNext until the next one is answered', async () => {
    const { emulator, order } = await setUp();
    const held = { delivery: { afterNext: true } };
    for (const reference of ['a', 'b', 'c', 'd']) await pay(emulator, reference, held);
    await until(() => emulator.deliveries().every(({ state }) => state === 'delivered'));
    expect(order().indexOf('b')).toBeLessThan(order().indexOf('a'));
    expect(order().indexOf('d')).toBeLessThan(order().indexOf('c'));
  });

  it('hold every copy of a notification, also until a delayed one is answered', async () => {
    const { emulator, order } = await setUp();
    await pay(emulator, 'a', { delivery: { afterNext: true, times: 2 } });
    await pay(emulator, 'b', { delivery: { delay: 20, times: 2 } });
    await emulator.waitForDelivery({ reference: 'a' });
    expect(order()).toEqual(['b', 'b', 'a', 'a']);
  });

  it('send a held notification once, even if it was redelivered before', async () => {
    const { emulator, order } = await setUp();
    await pay(emulator, 'a', { delivery: { afterNext: true } });
    await emulator.redeliver(emulator.deliveries()[0]!.id);
    await pay(emulator, 'b');
    await pay(emulator, 'c');
    await until(() => order().includes('c'));
    await emulator.close();
    expect(order().filter((reference) => reference === 'a')).toHaveLength(1);
  });

  it('send no notification that a reset found on hold', async () => {
    const { emulator, order } = await setUp();
    await pay(emulator, 'a', { delivery: { afterNext: true } });
    await emulator.reset();
    for (const reference of ['b', 'c']) {
      await pay(emulator, reference);
      await emulator.waitForDelivery({ reference });
    }
    expect(order()).toEqual(['b', 'c']);
  });

  it('come from assumed.delivery for each payment, also on the pay page', async () => {
    const delivery = vi.fn(({ reference }: { reference: string }) =>
      reference === 'lost' ? { times: 0 } : {},
    );
    const { emulator, order } = await setUp({ assumed: { delivery } });
    await pay(emulator, 'lost');
    await pay(emulator, 'sent');
    await emulator.waitForDelivery({ reference: 'sent' });
    expect(order()).toEqual(['sent']);
    expect(delivery.mock.calls[0]![0]).toMatchObject({ status: 'success', amount: 15_000 });
  });

  it('are reported if assumed.delivery is faulty, and the customer has paid all the same', async () => {
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    const { emulator } = await setUp({ assumed: { delivery: () => ({ times: -1 }) } });
    await pay(emulator, 'a');
    expect(String(printed.mock.calls[0]?.[0])).toContain('delivery.times');
    printed.mockRestore();
    expect(await readPayment(emulator, 'a')).toMatchObject({ status: 'success' });
  });

  it('are refused if wrong, and nothing is paid', async () => {
    const { emulator } = await setUp();
    await createLink(emulator);
    for (const [option, choice] of [
      ['delivery.times', { delivery: { times: 1.5 } }],
      ['delivery.times', { delivery: { times: 101 } }],
      ['delivery.delay', { delivery: { delay: -1 } }],
      ['delivery.delay', { delivery: { delay: 2 ** 31 } }],
      ['delivery.afterNext', { delivery: { afterNext: 1 } }],
      ['drop', { delivery: { drop: true } }],
      ['delivery', { delivery: null }],
      ['notification', { notification: 'late' }],
    ])
      await expect(emulator.pay('order-1', choice as Choice)).rejects.toMatchObject({ option });
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'pending' });
  });
});
