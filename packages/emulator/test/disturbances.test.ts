import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Disturbance } from '../src/deliveries/disturbances.js';
import { startEmulator, type Emulator, type EmulatorOptions } from '../src/index.js';
import { createLink, FIXED, readPayment } from './merchant.js';
import { startReceiver } from './receiver.js';

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
});

async function setUp(options: EmulatorOptions = {}) {
  const receiver = await startReceiver();
  const emulator = await startEmulator({ ...options, webhook: { url: receiver.url } });
  open.push(emulator, receiver);
  return {
    receiver,
    emulator,
    order: () =>
      receiver.received.map(
        ({ body }) => (JSON.parse(body.toString()) as { reference: string }).reference,
      ),
  };
}

async function payAll(emulator: Emulator, ...references: string[]): Promise<void> {
  for (const reference of references) {
    await createLink(emulator, { ...FIXED, reference });
    await emulator.pay(reference);
  }
}

const until = (holds: () => boolean): Promise<boolean> =>
  vi.waitUntil(holds, { timeout: 10_000, interval: 5 });

describe('disturb', () => {
  it('drops `count` notifications while the API still reports their payments', async () => {
    const { emulator, order } = await setUp();
    emulator.disturb({ kind: 'drop', count: 2 });
    await payAll(emulator, 'a', 'b', 'c');
    await until(() => emulator.deliveries()[2]?.state === 'delivered');
    expect(order()).toEqual(['c']);
    expect(
      emulator.deliveries().map(({ state, fault, attemptCount }) => [state, fault, attemptCount]),
    ).toEqual([
      ['dropped', 'drop', 0],
      ['dropped', 'drop', 0],
      ['delivered', undefined, 1],
    ]);
    expect(await readPayment(emulator, 'a')).toMatchObject({ status: 'success' });
  });

  it('survives a notificationBody that cannot be serialised, even for dropped notifications', async () => {
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    const notificationBody = ({ reference }: { reference: string }) => ({
      reference,
      toJSON: () => undefined,
    });
    const { emulator } = await setUp({ assumed: { notificationBody } });
    emulator.disturb({ kind: 'drop', count: 1 });
    await payAll(emulator, 'a', 'b');
    await until(() => printed.mock.calls.length > 0);
    expect(String(printed.mock.calls[0]?.[0])).toContain('[paylink emulator]');
    printed.mockRestore();
    expect(await readPayment(emulator, 'b')).toMatchObject({ status: 'success' });
  });

  it('lets redeliver() send a dropped notification late', async () => {
    const { emulator, order } = await setUp();
    emulator.disturb({ kind: 'drop' });
    await payAll(emulator, 'a');
    expect(await emulator.redeliver(emulator.deliveries()[0]!.id)).toMatchObject({
      response: { status: 200 },
    });
    expect(order()).toEqual(['a']);
    expect(emulator.deliveries()[0]).toMatchObject({ state: 'delivered' });
  });

  it('drops notifications until it is ended, only those of its reference if it has one', async () => {
    const { emulator, order } = await setUp({ disturb: { kind: 'drop', reference: 'a' } });
    const end = emulator.disturb({ kind: 'drop' });
    await payAll(emulator, 'b');
    end();
    end();
    await payAll(emulator, 'a', 'c');
    await until(() => order().length === 1);
    expect(order()).toEqual(['c']);
    expect(
      emulator
        .deliveries()
        .map(({ state }) => state)
        .slice(0, 2),
    ).toEqual(['dropped', 'dropped']);
  });

  it('delays a notification and reports the time of the attempt', async () => {
    const { emulator, order } = await setUp();
    emulator.disturb({ kind: 'delay', delay: 80, count: 1 });
    const before = Date.now();
    await payAll(emulator, 'a');
    expect(emulator.deliveries()[0]!.nextAttemptAt!.getTime()).toBeGreaterThanOrEqual(before + 80);
    expect(order()).toEqual([]);
    await until(() => emulator.deliveries()[0]?.state === 'delivered');
    expect(
      emulator.deliveries()[0]!.attempts[0]!.startedAt.getTime() - before,
    ).toBeGreaterThanOrEqual(78);
  });

  it('reorders by holding a notification until the next one is answered', async () => {
    const { emulator, order } = await setUp();
    emulator.disturb({ kind: 'reorder' });
    await payAll(emulator, 'a', 'b', 'c', 'd');
    await until(() => emulator.deliveries().every(({ state }) => state === 'delivered'));
    expect(order().indexOf('b')).toBeLessThan(order().indexOf('a'));
    expect(order().indexOf('d')).toBeLessThan(order().indexOf('c'));
  });

  it('sends a held notification once, even if it was redelivered before', async () => {
    const { emulator, order } = await setUp();
    emulator.disturb({ kind: 'reorder', count: 1 });
    await payAll(emulator, 'a');
    await emulator.redeliver(emulator.deliveries()[0]!.id);
    await payAll(emulator, 'b', 'c');
    await until(() => order().includes('c'));
    await emulator.close();
    expect(order().filter((reference) => reference === 'a')).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'disturb'],
    ['an unknown kind', { kind: 'lose' }, 'kind'],
    ['a misspelt option', { kind: 'drop', times: 1 }, 'times'],
    ['a count of 0', { kind: 'drop', count: 0 }, 'count'],
    ['a negative delay', { kind: 'delay', delay: -1 }, 'delay'],
    ['a delay over the timer limit', { kind: 'delay', delay: 2 ** 31 }, 'delay'],
    ['a reference that is not a string', { kind: 'drop', reference: 1 }, 'reference'],
  ])('refuses %s, also as an option of startEmulator', async (_, disturbance, option) => {
    const { emulator } = await setUp();
    expect(() => emulator.disturb(disturbance as Disturbance)).toThrow(
      expect.objectContaining({ option }) as Error,
    );
    await expect(startEmulator({ disturb: disturbance as Disturbance })).rejects.toMatchObject({
      option,
    });
  });
});
