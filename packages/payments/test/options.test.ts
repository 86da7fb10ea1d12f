import { describe, expect, it, vi } from 'vitest';
import { createPayments, memoryOrders, type PaymentsOptions } from '../src/index.js';
import { log, openShop, REFERENCE, service } from './shop.js';

const find = (): null => null;
const credit = (): number => 1;

const valid = (): PaymentsOptions => ({ client: service(), orders: memoryOrders().orders });

describe('createPayments', () => {
  it.each([
    ['client', { client: undefined }],
    ['client', { client: {} }],
    ['orders', { orders: undefined }],
    ['orders.find', { orders: {} }],
    ['orders.find', { orders: { find: 1, credit } }],
    ['orders.credit', { orders: { find } }],
    ['orders.unpaid', { orders: { find, credit, unpaid: [] } }],
    ['unpayed', { orders: { find, credit, unpayed: find } }],
    ['store', { store: {} }],
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1_001 }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: 300_001 }],
    ['logger', { logger: {} }],
    ['observe', { observe: true }],
  ])('names a wrong or unknown option: %s', (name, options) => {
    const wrong = { ...valid(), ...options } as PaymentsOptions;
    expect(() => createPayments(wrong)).toThrow(new RegExp(`^${name} `));
  });

  it('takes no option from Object.prototype', { tags: 'O07' }, () => {
    const polluted = Object.prototype as { timeout?: number; unpaid?: unknown };
    polluted.timeout = 0;
    polluted.unpaid = 'no function';
    try {
      const { find, credit } = memoryOrders().orders;
      expect(() => createPayments({ client: service(), orders: { find, credit } })).not.toThrow();
    } finally {
      delete polluted.timeout;
      delete polluted.unpaid;
    }
  });

  it.each([
    [
      'tenant',
      (payments: ReturnType<typeof createPayments>) => payments.settle('a', { tenant: '' }),
    ],
    ['wait', (payments) => payments.settle('a', { wait: -1 })],
    ['wiat', (payments) => payments.settle('a', { wiat: 1 } as object)],
    ['signal', (payments) => payments.settle('a', { signal: {} as AbortSignal })],
    ['references', (payments) => payments.reconcile('order-1' as never)],
    ['cursor', (payments) => payments.reconcile([], { cursor: 'order-1' })],
    ['concurrency', (payments) => payments.reconcile([], { concurrency: 0 })],
    ['timeLimit', (payments) => payments.verify([], { timeLimit: 0 })],
    ['onError', (payments) => payments.reconcile([], { onError: () => 1 } as object)],
    ['tenant', (payments) => payments.explain('a', { tenant: false as never })],
    ['signal', (payments) => payments.explain('a', { signal: {} as AbortSignal })],
    ['signal', (payments) => payments.verify([], { signal: {} as AbortSignal })],
  ] satisfies [string, (payments: ReturnType<typeof createPayments>) => Promise<unknown>][])(
    'rejects a call with a wrong option: %s',
    async (name, call) => {
      await expect(call(createPayments(valid()))).rejects.toThrow(new RegExp(`^${name} `));
    },
  );

  it('needs references for reconcile and verify if orders cannot list them', async () => {
    const { find, credit } = memoryOrders().orders;
    const payments = createPayments({ client: service(), orders: { find, credit } });
    await expect(payments.reconcile()).rejects.toThrow(/^references .*unpaid\(\)/);
    await expect(payments.verify()).rejects.toThrow(/^references .*paid\(\)/);
  });
});

describe('hooks of the merchant', () => {
  it('change nothing if they throw or reject', async () => {
    const broken = (): never => {
      throw new Error('the tracker is down');
    };
    const { payments } = openShop({
      observe: broken,
      logger: { warn: broken, error: broken },
      amount: 1,
    });
    expect((await payments.settle(REFERENCE)).status).toBe('differs');
    const rejecting = openShop({ observe: () => Promise.reject(new Error('late')) });
    expect((await rejecting.payments.settle(REFERENCE)).status).toBe('paid');
    const onProgress = vi.fn(broken);
    await openShop().payments.reconcile([REFERENCE], { onProgress });
    expect(onProgress).toHaveBeenCalled();
  });
});

describe('memoryOrders', () => {
  it('refuses a second order of a reference, and an order that could not be credited', () => {
    const { add } = memoryOrders();
    const order = { reference: 'a', amount: 1, currency: 'XOF' };
    add(order);
    add({ ...order, tenant: 'other' });
    expect(() => add(order)).toThrow(/^reference/);
    expect(() => add({ ...order, reference: 'b', amount: 0 })).toThrow(/amount/);
  });

  it('credits nothing but the order\u2019s own payment', async () => {
    const { orders, add } = memoryOrders();
    add({ reference: 'a', amount: 1, currency: 'XOF' });
    add({ reference: 'closed', amount: 1, currency: 'XOF', closed: true });
    const context = {
      tenant: null,
      signal: new AbortController().signal,
      source: 'settle',
    } as const;
    const pay = (payment: object) =>
      orders.credit({ reference: 'a', amount: 1, currency: 'XOF', ...payment }, context);
    for (const wrong of [
      { amount: 2 },
      { currency: 'EUR' },
      { reference: 'A' },
      { reference: 'closed' },
    ]) {
      expect(await pay(wrong)).toBe(0);
    }
    expect(await Promise.all([pay({}), pay({})])).toEqual([1, 0]);
  });

  it('warns in production', () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { warn } = log();
    vi.spyOn(console, 'warn').mockImplementation(warn);
    memoryOrders();
    expect(warn).toHaveBeenCalledOnce();
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });
});
