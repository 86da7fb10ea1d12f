import { expect, it } from 'vitest';
import { deferred, failure, openShop, REFERENCE, type ShopOptions } from './shop.js';

/** A shop with unpaid orders, some of which are asked again in each run. */
function openUnpaid(unpaid: readonly unknown[], options: ShopOptions = {}) {
  const row = { amount: 1_000, currency: 'XOF', paid: false };
  const find = (reference: string) => ({ reference, ...row });
  const orders = { find, unpaid: () => unpaid as string[] };
  const shop = openShop({ answer: { status: 'pending' }, ...options, orders });
  const asked = () => shop.client.getPayment.mock.calls.map(([reference]) => reference);
  return { ...shop, asked };
}

const LIST = ['order-1', 'order-2', 'order-3', 'order-4', 'order-5'];

it('a reference that is not a string counts as an error, and the run goes on', async () => {
  const { payments, asked } = openUnpaid([null, 'order-1', { reference: 'order-2' }, 'order-3']);
  const report = await payments.reconcile();
  expect(report).toMatchObject({ total: 4, pending: { count: 2 }, cursor: undefined });
  expect(report.errors).toMatchObject({ count: 2, outcomes: { unknown_order: 2 } });
  expect(report.errors.details[0]!.message).toContain('index 0 must be a string');
  expect(asked()).toEqual(['order-1', 'order-3']);
});

it('a run that its signal ended is continued by the next one', async () => {
  const controller = new AbortController();
  const { payments, asked, client } = openUnpaid(LIST, {
    answer: (reference) => {
      if (reference === 'order-3') controller.abort(new Error('the process ends'));
      return { status: 'pending' };
    },
  });
  const { signal } = controller;
  await failure(payments.reconcile(undefined, { signal, concurrency: 1 }));
  client.getPayment.mockClear();
  await payments.reconcile(undefined, { concurrency: 1 });
  expect(asked().slice(0, 2)).toEqual(['order-4', 'order-5']);
});

it('the cut of the tenant "null" is another than that of no tenant', async () => {
  const controller = new AbortController();
  const { payments, asked, client } = openUnpaid(LIST, {
    answer: (reference) => {
      if (reference === 'order-3') controller.abort(new Error('the process ends'));
      return { status: 'pending' };
    },
  });
  const { signal } = controller;
  await failure(payments.reconcile(undefined, { signal, concurrency: 1, tenant: null }));
  client.getPayment.mockClear();
  await payments.reconcile(undefined, { concurrency: 1, tenant: 'null' });
  expect(asked()[0]).toBe('order-1');
});

it('a service that hangs does not stretch a run by more than two seconds', async () => {
  const { payments } = openUnpaid([REFERENCE], { answer: () => deferred<object>().promise });
  const started = performance.now();
  const report = await payments.reconcile(undefined, { timeLimit: 50 });
  expect(performance.now() - started).toBeLessThan(2_500);
  expect(report.errors.outcomes).toEqual({ handler_timeout: 1 });
});

it('a run over orders that need no network leaves time to others', async () => {
  const { payments } = openUnpaid([], { orders: {} });
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  await payments.reconcile(Array.from({ length: 10_000 }, () => ' ').map((_, i) => `\0${i}`));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});
