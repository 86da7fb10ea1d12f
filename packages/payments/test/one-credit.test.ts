/** Webhook, return page and schedule together, and the recipe that each README shows. */
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPayments, memoryStore, WebhookError, type CreditResult } from '../src/index.js';
import { failure, quiet, service, succeeded, tick } from './shop.js';

interface Order {
  readonly amount: number;
  readonly currency: string;
  isPaid: boolean;
}

/** The recipe of the documentation, over rows in memory. */
function shop(client: ReturnType<typeof service>, logger = quiet) {
  const orders = new Map<string, Order>();
  const credits: string[] = [];
  const payments = createPayments({
    client,
    store: memoryStore(),
    logger,
    async credit({ reference, amount, currency }, { source }): Promise<CreditResult> {
      await tick();
      const order = orders.get(reference);
      if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
      if (order.isPaid) return 'already_credited';
      if (order.amount !== amount || order.currency !== currency) {
        throw new WebhookError('amount_differs', { status: 409 });
      }
      order.isPaid = true;
      credits.push(`${reference} by ${source}`);
      return 1;
    },
  });
  return { orders, credits, payments };
}

const order = (more: Partial<Order> = {}): Order => ({
  amount: 15_000,
  currency: 'XOF',
  isPaid: false,
  ...more,
});

describe('webhook, settle and reconcile of one order', () => {
  it('at the same moment lead to one credit, a hundred times over', async () => {
    for (let round = 0; round < 100; round++) {
      const { orders, credits, payments } = shop(service());
      orders.set('order-1', order());
      const { receive, settle, reconcile } = payments;
      const ways = [
        () => receive(succeeded()),
        () => settle('order-1'),
        () => reconcile(['order-1']),
        () => receive(succeeded()),
        () => settle('order-1'),
      ];
      // Another one is the first in each round.
      for (let turn = round % ways.length; turn > 0; turn--) ways.push(ways.shift()!);
      const ended = await Promise.all(ways.map((way) => way()));
      expect(credits).toHaveLength(1);
      const credited = ended.filter(
        (result) =>
          ('outcome' in result && result.outcome === 'handled') ||
          (typeof (result as { credited?: unknown }).credited === 'boolean' &&
            (result as { credited: boolean }).credited) ||
          ('errors' in result && result.credited.length === 1),
      );
      expect(credited).toHaveLength(1);
      for (const way of ways) await way();
      expect(credits).toHaveLength(1);
    }
  });

  it('credit the order by the remaining way if the others fail', async () => {
    const { orders, credits, payments } = shop(service());
    const early = await Promise.allSettled([
      payments.receive(succeeded()),
      payments.settle('order-1'),
    ]);
    expect(early.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    orders.set('order-1', order());
    expect((await payments.reconcile(['order-1'])).credited).toEqual(['order-1']);
    expect(credits).toEqual(['order-1 by reconcile']);
  });
});

describe('the recipe', () => {
  it.each<[string, Partial<Order>]>([
    ['another currency', { currency: 'USD' }],
    ['another amount', { amount: 15_001 }],
  ])('rejects a payment of %s with 409 on each way, and logs it', async (_, differs) => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { orders, credits, payments } = shop(service(), logger);
    orders.set('order-1', order(differs));
    const refused = { code: 'amount_differs', status: 409 };
    expect(await failure(payments.receive(succeeded()))).toMatchObject(refused);
    expect(await failure(payments.settle('order-1'))).toMatchObject(refused);
    const { errors } = await payments.reconcile(['order-1']);
    expect(errors).toMatchObject([{ reference: 'order-1', error: refused }]);
    // A receiver logs the first.
    expect(logger.error.mock.calls.map(([line]) => String(line))).toEqual([
      expect.stringContaining('409 amount_differs') as string,
      expect.stringContaining('409 amount_differs') as string,
    ]);
    expect(credits).toEqual([]);
  });

  it('marks an order that was paid by hand, and does not credit it again', async () => {
    const { orders, credits, payments } = shop(service());
    orders.set('order-1', order({ isPaid: true }));
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'duplicate' });
    expect((await payments.reconcile(['order-1'])).duplicates).toEqual(['order-1']);
    expect(credits).toEqual([]);
  });

  it('credits an order on the retry if its row is inserted after the notification', async () => {
    const { orders, credits, payments } = shop(service());
    const error = await failure(payments.receive(succeeded()));
    expect(error).toMatchObject({ code: 'unknown_order', status: 503 });
    orders.set('order-1', order());
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'handled' });
    expect(credits).toEqual(['order-1 by webhook']);
  });
});

describe('with the client and the emulator', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  });
  afterAll(() => emulator.close());

  it('credits a paid order once, in any order of notification, settle and reconcile', async () => {
    const { baseUrl, apiKey } = emulator;
    const client = createClient({ baseUrl, apiKey, retries: 0 });
    const credits: (number | undefined)[] = [];
    const payments = createPayments({
      client,
      store: memoryStore(),
      credit: ({ amount }) => credits.push(amount),
      logger: quiet,
    });
    const reference = 'commande 1/é';
    await client.createPaymentLink({ amount: 1_000, reference });
    expect(await payments.settle(reference)).toEqual({ status: 'pending', credited: false });
    await emulator.pay(reference);
    const { credited, pending, errors } = await payments.reconcile([reference, 'nobody']);
    expect([credited, pending]).toEqual([[reference], []]);
    expect(errors).toMatchObject([{ reference: 'nobody', error: { code: 'confirm_unavailable' } }]);
    expect(await payments.settle(reference)).toEqual({ status: 'success', credited: false });
    expect(await payments.receive(succeeded(reference))).toEqual({ outcome: 'duplicate' });
    expect(credits).toEqual([1_000]);
  });

  it('credits an order once if settle and reconcile lack the tenant of the notification', async () => {
    const { baseUrl, apiKey } = emulator;
    const client = createClient({ baseUrl, apiKey, retries: 0 });
    const credit = vi.fn(() => 1);
    const payments = createPayments({ client, store: memoryStore(), credit, logger: quiet });
    await client.createPaymentLink({ amount: 1_000, reference: 'order-of-acme' });
    await emulator.pay('order-of-acme');
    expect((await client.getPayment('order-of-acme')).status).toBe('success');
    const event = succeeded('order-of-acme', { tenant: 'acme' });
    expect(await payments.receive(event)).toEqual({ outcome: 'handled' });
    // Without its tenant the order has another key, which has no mark.
    const error = await failure(payments.settle('order-of-acme'));
    expect(error).toMatchObject({
      code: 'confirm_unavailable',
      cause: { option: 'tenant', code: 'misconfigured' },
    });
    expect((await payments.reconcile(['order-of-acme'])).errors).toHaveLength(1);
    expect(credit).toHaveBeenCalledOnce();
  });
});
