import { describe, expect, it, vi } from 'vitest';
import type { Order } from '../src/index.js';
import { failure, openShop, REFERENCE, refusalOf, succeeded, type ShopOptions } from './shop.js';

const ROW = { reference: REFERENCE, amount: 1_000, currency: 'XOF', paid: false };
const finding = (row: unknown): ShopOptions => ({ orders: { find: () => row as Order } });

/** Outcome, the shop, what the webhook answers, `settle`, and the list of `reconcile`. */
const TABLE: readonly [string, ShopOptions, string | undefined, string, string][] = [
  ['credited', {}, undefined, 'paid', 'credited'],
  ['paid', finding({ ...ROW, paid: true }), undefined, 'paid', 'paid'],
  ['pending', { answer: { status: 'pending' } }, '503 payment_pending', 'pending', 'pending'],
  ['no_payment', { answer: refusalOf(404) }, '503 no_payment', 'unknown', 'noPayment'],
  // Q08: the service has signed a success.
  ['failed', { answer: { status: 'failed' } }, '503 payment_pending', 'failed', 'failed'],
  [
    'cancelled',
    { answer: { status: 'cancelled' } },
    '503 payment_pending',
    'cancelled',
    'cancelled',
  ],
  [
    'pending',
    { closed: true, answer: { status: 'pending' } },
    '503 payment_pending',
    'pending',
    'pending',
  ],
  ['unknown_order', finding(null), '503 unknown_order', 'unknown', 'errors'],
  ['order_closed', { closed: true }, '409 order_closed', 'closed', 'undecided'],
  ['amount_differs', { amount: 999 }, '409 amount_differs', 'differs', 'undecided'],
  ['not_credited', { orders: { credit: () => 1 } }, '503 not_credited', 'unavailable', 'errors'],
  [
    'invalid_order',
    finding({ ...ROW, amount: undefined }),
    '500 invalid_order',
    'unavailable',
    'errors',
  ],
  [
    'orders_unavailable',
    { orders: { find: () => Promise.reject(new Error('no connection')) } },
    '503 orders_unavailable',
    'unavailable',
    'errors',
  ],
  [
    'confirm_unavailable',
    { answer: new Error('no connection') },
    '503 confirm_unavailable',
    'unavailable',
    'errors',
  ],
  [
    'handler_timeout',
    { timeout: 1_000, orders: { credit: () => new Promise(() => undefined) } },
    '503 handler_timeout',
    'unavailable',
    'errors',
  ],
];

describe.each(TABLE)('the outcome %s', { tags: 'Q08' }, (outcome, shop, webhook, status, list) => {
  it(`answers a webhook with ${webhook ?? '200'}`, async () => {
    const { payments } = openShop(shop);
    const receiving = payments.receive(succeeded());
    if (webhook === undefined) {
      await expect(receiving).resolves.toBeUndefined();
      return;
    }
    const { status: code, code: name } = await failure(receiving);
    expect(`${code} ${name}`).toBe(webhook);
  });

  it(`is the status ${status} of settle`, async () => {
    expect(await openShop(shop).payments.settle(REFERENCE)).toMatchObject({ status });
  });

  it(`is in the list ${list} of reconcile`, async () => {
    const report = await openShop(shop).payments.reconcile([REFERENCE]);
    expect(report).toMatchObject({ total: 1, [list]: { count: 1, references: [REFERENCE] } });
    if (list !== 'errors' && list !== 'undecided') return;
    expect(report[list]).toMatchObject({ outcomes: { [outcome]: 1 }, details: [{ outcome }] });
  });

  it('is told to observe once per call', async () => {
    const observe = vi.fn();
    const { payments } = openShop({ ...shop, observe });
    const started = performance.now();
    await payments.settle(REFERENCE);
    const told = { source: 'settle', outcome, reference: REFERENCE, tenant: null };
    const durationMs = expect.any(Number) as number;
    expect(observe.mock.calls).toEqual([[{ ...told, durationMs }]]);
    const [[observed]] = observe.mock.calls as [[{ durationMs: number }]];
    expect(observed.durationMs).toBeLessThanOrEqual(performance.now() - started);
  });

  it('is what explain says, without a write', async () => {
    const isFoundByWriting = outcome === 'not_credited' || outcome === 'handler_timeout';
    const { payments, credit } = openShop(shop);
    const explained = await payments.explain(REFERENCE);
    expect(explained.outcome).toBe(isFoundByWriting ? 'credited' : outcome);
    expect(explained.reason).toMatch(/\w+ \w+/);
    expect(credit).not.toHaveBeenCalled();
  });
});
