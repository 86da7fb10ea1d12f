import { expect, it } from 'vitest';
import { failure, openShop, type ShopOptions } from './shop.js';

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

it('a run that its signal ended is continued by the cursor of its progress', async () => {
  const controller = new AbortController();
  let cursor: string | undefined;
  const { payments, find } = openUnpaid(LIST, {
    answer: async (reference) => {
      if (reference !== 'order-3') return { status: 'pending' };
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      controller.abort(new Error('the process ends'));
      return { status: 'pending' };
    },
  });
  const options = { signal: controller.signal, concurrency: 1 };
  const onProgress = (progress: { readonly cursor: string | undefined }) => ({ cursor } = progress);
  await failure(payments.reconcile(undefined, { ...options, onProgress }));
  find.mockClear();
  await payments.reconcile(undefined, { cursor, concurrency: 1 });
  const found = find.mock.calls.map(([reference]) => reference);
  expect(found).toEqual(['order-3', 'order-4', 'order-5', 'order-1', 'order-2']);
});

it('a run over orders that need no network leaves time to others', async () => {
  const { payments } = openUnpaid([], { orders: {} });
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  await payments.reconcile(Array.from({ length: 10_000 }, () => ' ').map((_, i) => `\0${i}`));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});
