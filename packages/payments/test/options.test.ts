import { ConfigurationError } from '@paylink/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPayments, memoryStore } from '../src/index.js';
import { failure, quiet, service, succeeded } from './shop.js';

const good = () => ({ client: service(), store: memoryStore(), credit: () => 1, logger: quiet });

describe('createPayments', () => {
  it.each<[string, unknown]>([
    ['client', undefined],
    ['client', null],
    ['client', {}],
    ['client', Promise.resolve(service())],
    ['store', undefined],
    ['store', null],
    ['store', {}],
    ['store', { run: () => undefined }],
    ['store', { isDone: () => undefined }],
    ['credit', undefined],
    ['credit', {}],
    ['handlers', null],
    ['handlers', () => undefined],
    ['timeout', 0],
    ['timeout', Infinity],
    ['timeout', '5'],
    ['logger', {}],
    ['observe', 'log'],
    ['onSuccess', () => undefined],
    ['tenant', 'acme'],
  ])('names an invalid option at construction: %s is %o', (option, value) => {
    const make = () => createPayments({ ...good(), [option]: value });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ option }) as Error);
  });

  it.each<[string, unknown, RegExp]>([
    ['payment.succeeded', () => undefined, /`credit` handles this kind/],
    ['unrecognized', () => undefined, /must be an event kind of the service/],
    ['payment.refunded', 'refund', /must be a function/],
    ['Payment:Refunded', () => undefined, /must be an event kind of the service/],
  ])('rejects the handler %s: %o', (kind, handler, message) => {
    const make = () => createPayments({ ...good(), handlers: { [kind]: handler as never } });
    expect(make).toThrow(message);
    const option = `handlers['${kind}']`;
    expect(make).toThrow(expect.objectContaining({ option }) as Error);
  });

  it.each([undefined, null, 'options'])('rejects %o instead of options', (options) => {
    expect(() => createPayments(options as never)).toThrow(ConfigurationError);
  });

  it('names invalid options of settle and reconcile', async () => {
    const payments = createPayments(good());
    for (const [option, value] of [
      ['signal', {}],
      ['credit', () => 1],
    ]) {
      const running = payments.settle('order-1', { [option as string]: value });
      expect(await failure(running)).toMatchObject({ option });
    }
    const context = { signal: 'now' as never };
    expect(await failure(payments.receive(succeeded(), context))).toMatchObject({
      option: 'signal',
    });
  });
});

describe('a polluted Object.prototype', () => {
  const polluted = Object.prototype as Record<string, unknown>;
  const names: Record<string, unknown> = {
    client: service({ status: 'failed' }),
    store: { isDone: () => Promise.resolve(true), run: () => Promise.resolve('duplicate') },
    credit: () => 0,
    handlers: { 'payment.refunded': () => undefined },
    'payment.refunded': () => undefined,
    timeout: 1,
    logger: 7,
    observe: 7,
    tenant: 'mallory',
    kind: 'payment.refunded',
    signal: AbortSignal.abort(),
    cursor: 'nonsense',
    onProgress: 7,
    concurrency: 0,
    deadline: 0,
    limit: 0,
    inbox: 'no inbox',
  };
  afterEach(() => {
    for (const name of Object.keys(names)) Reflect.deleteProperty(polluted, name);
  });

  it.each(Object.keys(names))(
    'changes nothing by %s: one credit, and a replay is a duplicate',
    async (name) => {
      const credit = vi.fn(() => 1);
      const before = { ...good(), credit };
      const first = createPayments(before);
      await first.receive(succeeded());
      polluted[name] = names[name];
      const payments = createPayments({ ...before, store: before.store });
      expect(await payments.receive(succeeded())).toEqual({ outcome: 'duplicate' });
      expect(await payments.receive(succeeded(), {})).toEqual({ outcome: 'duplicate' });
      expect(await payments.settle('order-1')).toEqual({ status: 'success', credited: false });
      expect(await payments.settle('order-1', {})).toEqual({ status: 'success', credited: false });
      expect((await payments.reconcile(['order-1'], {})).duplicates).toEqual(['order-1']);
      expect(credit).toHaveBeenCalledOnce();
      expect(await payments.receive(succeeded('order-1', { type: 'payment.refunded' }))).toEqual({
        outcome: 'ignored',
      });
      expect(await createPayments(good()).receive(succeeded())).toEqual({ outcome: 'handled' });
      expect(() => createPayments({ store: memoryStore(), credit } as never)).toThrow(/^client/);
    },
  );
});
