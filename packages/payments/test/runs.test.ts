import { describe, expect, it, vi } from 'vitest';
import { deferred, failure, openShop, REFERENCE, refusalOf, succeeded, tick } from './shop.js';

describe('one run per order', () => {
  it('H02: answers a webhook, twenty pages and the schedule by one credit and one question', async () => {
    const { payments, credit, client } = openShop();
    const pages = Array.from({ length: 20 }, () => payments.settle(REFERENCE));
    const [report] = await Promise.all([
      payments.reconcile([REFERENCE, REFERENCE]),
      payments.receive(succeeded()),
    ]);
    expect(new Set((await Promise.all(pages)).map(({ status }) => status))).toEqual(
      new Set(['paid']),
    );
    expect(report.total).toBe(1);
    expect(credit).toHaveBeenCalledOnce();
    expect(client.getPayment).toHaveBeenCalledOnce();
  });

  it('says paid to who joined it, after a look at the row, and observes every call', async () => {
    const outcomes: string[] = [];
    const { payments, find } = openShop({ observe: ({ outcome }) => outcomes.push(outcome) });
    await Promise.all([payments.settle(REFERENCE), payments.settle(REFERENCE)]);
    expect(outcomes.sort()).toEqual(['credited', 'paid']);
    expect(find).toHaveBeenCalledTimes(3);
    await payments.settle(REFERENCE, { signal: AbortSignal.abort() });
    expect(outcomes).toContain('handler_timeout');
  });

  it('gives a page its outcome', async () => {
    const { payments, client } = openShop({ answer: { status: 'pending' } });
    const both = await Promise.all([payments.settle(REFERENCE), payments.settle(REFERENCE)]);
    expect(both.map(({ status }) => status)).toEqual(['pending', 'pending']);
    expect(client.getPayment).toHaveBeenCalledOnce();
  });

  it.each(['pending', 'failed', 'cancelled'])(
    'P25: does not silence a webhook by the %s of a page, also not for 2 s afterwards',
    async (status) => {
      const asked = deferred();
      const answers = [() => asked.promise.then(() => ({ status })), () => ({})];
      const { payments, isPaid } = openShop({ answer: () => answers.shift()!() });
      const page = payments.settle(REFERENCE);
      await tick();
      const receiving = payments.receive(succeeded());
      asked.resolve();
      expect((await page).status).toBe(status);
      await receiving;
      expect(await isPaid()).toBe(true);

      const later = openShop({
        answer: () => ({
          status: later.client.getPayment.mock.calls.length === 1 ? status : 'success',
        }),
      });
      await later.payments.settle(REFERENCE);
      await later.payments.receive(succeeded());
      expect(await later.isPaid()).toBe(true);
    },
  );

  it('P25: of an aborted page credits for the webhook that waits for it', async () => {
    const asked = deferred<object>();
    const { payments, isPaid } = openShop({ answer: () => asked.promise });
    const controller = new AbortController();
    const page = payments.settle(REFERENCE, { signal: controller.signal });
    await tick();
    const receiving = payments.receive(succeeded());
    controller.abort();
    expect(await page).toEqual({ status: 'unavailable' });
    asked.resolve({});
    await receiving;
    expect(await isPaid()).toBe(true);
  });

  it('P26: that was rolled back is not_credited for a page, and a webhook credits anew', async () => {
    const asked = deferred<object>();
    const { memory, ...shop } = openShop({ answer: () => asked.promise });
    const seen: string[] = [];
    // The first run writes inside a transaction of the shop, which only its own code can see.
    let isOpen = false;
    shop.credit.mockImplementationOnce(() => {
      isOpen = true;
      return 1;
    });
    shop.find.mockImplementation(async (...call) => {
      const row = await memory.orders.find(...call);
      if (!isOpen) return row;
      isOpen = false;
      return { ...row!, paid: true };
    });
    const first = shop.payments.settle(REFERENCE);
    await tick();
    const page = shop.payments.settle(REFERENCE).then(({ status }) => seen.push(status));
    const receiving = shop.payments.receive(succeeded());
    asked.resolve({});
    expect((await first).status).toBe('paid');
    await page;
    await receiving;
    expect(seen).toEqual(['unavailable']);
    expect(shop.logger.error.mock.calls[0]![0]).toMatch(/not_credited: settle.*rolled back/);
    expect(await shop.isPaid()).toBe(true);
    expect(shop.credit).toHaveBeenCalledTimes(2);
  });
});

describe('P34: a credit that hangs', () => {
  it('ends the answer after `timeout`, keeps its place, and leaves other orders alone', async () => {
    const locked = deferred();
    const { memory, ...shop } = openShop({ timeout: 30 });
    memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
    shop.credit.mockImplementation(async (payment, context) => {
      if (payment.reference === REFERENCE) await locked.promise;
      return memory.orders.credit(payment, context);
    });
    const redeliveries = Array.from({ length: 4 }, () =>
      failure(shop.payments.receive(succeeded())),
    );
    await shop.payments.receive(succeeded('order-2'));
    for (const error of await Promise.all(redeliveries)) {
      expect(error).toMatchObject({ code: 'handler_timeout', status: 503 });
    }
    expect(shop.credit.mock.calls[0]![1].signal.aborted).toBe(true);
    expect(await failure(shop.payments.receive(succeeded()))).toMatchObject({
      code: 'handler_timeout',
    });
    expect(shop.credit).toHaveBeenCalledTimes(2);
    locked.resolve();
    await shop.payments.receive(succeeded());
    expect(shop.credit).toHaveBeenCalledTimes(2);
    expect(await shop.isPaid()).toBe(true);
  });

  it('that fails in the end leaves its place to the next webhook', async () => {
    const locked = deferred();
    const { credit, payments, isPaid } = openShop({ timeout: 30 });
    credit.mockImplementationOnce(() => locked.promise as never);
    await failure(payments.receive(succeeded()));
    locked.reject(new Error('the lock was not granted'));
    await payments.receive(succeeded());
    expect(await isPaid()).toBe(true);
  });
});

describe('a find that hangs', () => {
  it('frees the place of the order after `timeout`, and nothing is written later', async () => {
    const row = deferred<never>();
    const { find, credit, payments } = openShop({ timeout: 20 });
    find.mockImplementationOnce(() => row.promise);
    expect(await failure(payments.receive(succeeded()))).toMatchObject({
      code: 'handler_timeout',
      message: expect.stringMatching(
        /^find\(\) did not settle in the \d+ ms that were left$/,
      ) as string,
    });
    row.resolve({ reference: REFERENCE, amount: 1_000, currency: 'XOF', paid: false } as never);
    await tick();
    expect(credit).not.toHaveBeenCalled();
    await payments.receive(succeeded());
    expect(credit).toHaveBeenCalledOnce();
  });
});

describe('P17: fake timers at their defaults', () => {
  it('answer one delivery and one settle', async () => {
    vi.useFakeTimers();
    try {
      const { payments, memory } = openShop();
      memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
      await payments.receive(succeeded());
      expect((await payments.settle('order-2')).status).toBe('paid');
    } finally {
      vi.useRealTimers();
    }
  });

  it('do not stop the pause after a 429', async () => {
    vi.useFakeTimers();
    try {
      const answers = [refusalOf(429, 1), {}];
      const { payments } = openShop({ answer: () => answers.shift() });
      await payments.receive(succeeded());
    } finally {
      vi.useRealTimers();
    }
  });
});
