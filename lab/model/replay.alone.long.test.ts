/**
 * Spin finds the shortest way to a lost credit in a design that shares the outcome of a page with
 * a webhook. This test takes the same way with the real code.
 */
import { createPayments, type PaymentClient, type Payments } from '@paylink/payments';
import { beforeAll, describe, expect, it } from 'vitest';
import { check } from './spin.js';

let steps: readonly string[];
beforeAll(() => {
  ({ steps } = check({ faults: 1, design: 'OUTCOME_SHARED' }));
}, 60_000);

const order = { reference: 'order-1', amount: 1500, currency: 'XOF' };

/** A shop whose service answers a question only when the way says so. */
class Shop {
  service = 'pending';
  isPaid = false;
  readonly #questions: (() => void)[] = [];
  readonly payments: Payments = createPayments({
    orders: {
      find: () => ({ ...order, paid: this.isPaid }),
      credit: () => {
        this.isPaid = true;
        return 1;
      },
    },
    client: {
      getPayment: () =>
        new Promise<Awaited<ReturnType<PaymentClient['getPayment']>>>((resolve) => {
          this.#questions.push(() => resolve({ ...order, status: this.service }));
        }),
    },
  });

  /** The service decides its answer now. */
  async answer(): Promise<void> {
    await expect.poll(() => this.#questions.length).toBeGreaterThan(0);
    this.#questions.shift()!();
  }

  answerAll(): void {
    for (const answer of this.#questions.splice(0)) answer();
  }
}

/** Does the steps of the way in their order, and returns whether the webhook was acknowledged. */
async function follow(
  shop: Shop,
  receive: (event: { type: string; reference: string }) => Promise<void>,
): Promise<boolean> {
  let webhook: Promise<boolean> | undefined;
  let page: Promise<unknown> | undefined;
  for (const step of steps) {
    if (step === 'page 0 starts') page = shop.payments.settle(order.reference, { wait: 60_000 });
    else if (step === 'customer fails') shop.service = 'failed';
    else if (step === 'customer pays') shop.service = 'success';
    else if (step === 'webhook 0 starts')
      webhook = receive({ type: 'payment.succeeded', reference: order.reference }).then(
        () => true,
        () => false,
      );
    // The answer is under way from here, and arrives when the webhook has joined the run.
    else if (step === 'page 0 asks failed') await shop.answer();
  }
  const answering = setInterval(() => shop.answerAll(), 1);
  try {
    await page;
    return await webhook!;
  } finally {
    clearInterval(answering);
  }
}

describe('the way that Spin finds to a notification silenced by a page', { tags: 'P25' }, () => {
  it('fails the first try on the page, pays, and then brings the webhook', () => {
    expect(steps.filter((step) => !step.includes('joins'))).toEqual([
      'page 0 starts',
      'customer fails',
      'page 0 asks failed',
      'customer pays',
      'webhook 0 starts',
      'webhook 0 ends isFailed',
    ]);
  });

  it('ends with a credit in the real code', async () => {
    const shop = new Shop();
    const isAcknowledged = await follow(shop, shop.payments.receive);
    expect({ isAcknowledged, isPaid: shop.isPaid }).toEqual({
      isAcknowledged: true,
      isPaid: true,
    });
  });

  it('loses the credit if the webhook takes the outcome of the page', async () => {
    const shop = new Shop();
    const { payments } = shop;
    const settling: Promise<{ status: string }>[] = [];
    const settle: Payments['settle'] = (...call) => {
      const settled = payments.settle(...call);
      settling.push(settled);
      return settled;
    };
    Object.defineProperty(shop, 'payments', { value: { ...payments, settle } });
    const isAcknowledged = await follow(shop, async (event) => {
      const { status } = await settling[0]!;
      if (status !== 'failed') await payments.receive(event);
    });
    expect({ isAcknowledged, isPaid: shop.isPaid }).toEqual({
      isAcknowledged: true,
      isPaid: false,
    });
  });
});
