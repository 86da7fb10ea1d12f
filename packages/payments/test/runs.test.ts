import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Orders, Payments } from '../src/index.js';
import {
  deferred,
  failure,
  openMany,
  openShop,
  REFERENCE,
  refusalOf,
  succeeded,
  tick,
} from './shop.js';

const ROW = { amount: 1_000, currency: 'XOF', paid: false };

describe('one run per order', () => {
  it(
    'answers a webhook, twenty pages and the schedule by one credit and one question',
    { tags: 'H02' },
    async () => {
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
    },
  );

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
    'does not silence a webhook by the %s of a page, also not for 2 s afterwards',
    { tags: 'P25' },
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

  it('credits for the webhook that waits for an aborted page', { tags: 'P25' }, async () => {
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

  it('answers a queue worker at once whose signal aborts, with the reason', async () => {
    const asked = deferred<object>();
    const { payments } = openShop({ answer: () => asked.promise, timeout: 1_000 });
    const controller = new AbortController();
    const receiving = failure(payments.receive(succeeded(), { signal: controller.signal }));
    await tick();
    const cause = new Error('the worker stops');
    controller.abort(cause);
    expect(await receiving).toMatchObject({ code: 'handler_timeout', cause });
    asked.resolve({});
  });

  it('credits after a run that was rolled back', { tags: 'P26' }, async () => {
    const asked = deferred<object>();
    const { memory, ...shop } = openShop({ answer: () => asked.promise });
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
    const receiving = shop.payments.receive(succeeded());
    asked.resolve({});
    expect((await first).status).toBe('paid');
    await receiving;
    expect(await shop.isPaid()).toBe(true);
    expect(shop.credit).toHaveBeenCalledTimes(2);
  });

  it(
    'is not joined by a second one although the event loop was blocked for long',
    { tags: 'Q11' },
    async () => {
      const locked = deferred();
      const { credit, payments } = openShop({ timeout: 50 });
      credit.mockImplementation(() => locked.promise.then(() => 1) as never);
      void payments.settle(REFERENCE);
      await tick();
      const end = performance.now() + 1_500;
      while (performance.now() < end);
      expect((await payments.settle(REFERENCE)).status).toBe('unavailable');
      expect(credit).toHaveBeenCalledOnce();
      locked.resolve();
    },
  );

  it(
    'asks nothing after its time although the event loop was blocked for long',
    { tags: 'Q11' },
    async () => {
      const row = deferred();
      const { find, client, payments, memory } = openShop({ timeout: 200 });
      find.mockImplementationOnce((...call) => row.promise.then(() => memory.orders.find(...call)));
      const receiving = failure(payments.receive(succeeded()));
      await tick();
      row.resolve();
      const end = performance.now() + 150;
      while (performance.now() < end);
      expect((await receiving).code).toBe('confirm_unavailable');
      expect(client.getPayment).not.toHaveBeenCalled();
    },
  );

  it('asks nothing although its turn comes in the last moment, after the loop was blocked', async () => {
    const answer = deferred();
    const block = async () => {
      await answer.promise;
      const end = performance.now() + 150;
      while (performance.now() < end);
      return {};
    };
    const { payments, asked } = openMany(2, block, { concurrency: 1, timeout: 200 });
    const first = payments.settle(REFERENCE);
    const receiving = failure(payments.receive(succeeded('order-2')));
    await tick();
    answer.resolve();
    expect((await receiving).code).toBe('confirm_unavailable');
    await first;
    expect(asked()).toEqual([REFERENCE]);
  });

  it('credits nothing after its time although the event loop was blocked for long', async () => {
    const { credit, payments } = openShop({
      timeout: 200,
      answer() {
        const end = performance.now() + 250;
        while (performance.now() < end);
        return {};
      },
    });
    expect((await failure(payments.receive(succeeded()))).code).toBe('handler_timeout');
    expect(credit).not.toHaveBeenCalled();
  });

  it('answers 20,000 deliveries of one order at once', { tags: 'Q11' }, async () => {
    const { payments, credit } = openShop({ timeout: 300_000 });
    const all = Array.from({ length: 20_000 }, () => payments.receive(succeeded()));
    await Promise.all(all);
    expect(credit).toHaveBeenCalledOnce();
  });

  it('frees its order and its place soon after its time if a Worker left it behind', async () => {
    let isLeft = true;
    const { setTimeout } = globalThis;
    vi.stubGlobal('setTimeout', (...call: Parameters<typeof setTimeout>) =>
      isLeft ? {} : setTimeout(...call),
    );
    vi.resetModules();
    onTestFinished(() => void vi.unstubAllGlobals());
    const { createPayments } = await import('../src/index.js');
    const never = new Promise<never>(() => undefined);
    let [asked, looks] = [0, 0];
    const getPayment = (reference: string) =>
      reference === REFERENCE && asked++ === 0
        ? never
        : Promise.resolve({ ...ROW, reference, status: 'success' });
    const { memory } = openShop();
    memory.add({ reference: 'order-2', amount: 1_000, currency: 'XOF' });
    memory.add({ reference: 'order-3', amount: 1_000, currency: 'XOF' });
    const find: Orders['find'] = (reference, context) =>
      reference === 'order-3' && ++looks === 2 ? never : memory.orders.find(reference, context);
    const orders = { ...memory.orders, find };
    const options = { client: { getPayment }, orders, timeout: 2_000, concurrency: 1 };
    const payments = createPayments(options);
    // Their requests end without a word: no timer fires, and no answer comes.
    void payments.settle('order-3');
    while (looks < 2) await tick();
    void payments.settle(REFERENCE);
    await tick();
    isLeft = false;
    await new Promise((resolve) => setTimeout(resolve, 3_050));
    expect((await payments.settle(REFERENCE)).status).toBe('paid');
    expect((await payments.settle('order-2')).status).toBe('paid');
    expect((await payments.settle('order-3')).status).toBe('paid');
  });

  it('causes no warning if many calls share one signal of the shop', { tags: 'Q11' }, async () => {
    const warnings: unknown[] = [];
    const listen = (warning: unknown): unknown => warnings.push(warning);
    process.on('warning', listen);
    const { payments } = openShop({ answer: { status: 'pending' } });
    const { signal } = new AbortController();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => payments.settle(`order-${index}`, { signal })),
    );
    await tick();
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});

describe('an answer of the service', () => {
  it('is reused by a webhook if it is a success that a page could not write', async () => {
    const { payments, client, credit } = openShop();
    credit.mockRejectedValueOnce(new Error('deadlock'));
    expect((await payments.settle(REFERENCE)).status).toBe('unavailable');
    await payments.receive(succeeded());
    expect(client.getPayment).toHaveBeenCalledOnce();
  });

  it(
    'is forgotten with the run that paid, also if another shop has the number',
    { tags: 'Q06' },
    async () => {
      const shops = new AsyncLocalStorage<'a' | 'b'>();
      const paid = new Set<unknown>();
      const orders = {
        find: (reference: string) => ({ ...ROW, reference, paid: paid.has(shops.getStore()) }),
        credit: () => Number(paid.add(shops.getStore()).size > 0),
      };
      const answer = () => ({ status: shops.getStore() === 'a' ? 'success' : 'pending' });
      /** Looks by payments that know no answer yet. */
      const expectPaid = async (look: (by: Payments) => unknown, expected: readonly string[]) => {
        const { payments } = openShop({ orders, answer });
        await shops.run('a', async () => look(payments));
        await failure(shops.run('b', () => payments.receive(succeeded())));
        expect([...paid]).toEqual(expected);
      };
      await expectPaid((payments) => payments.receive(succeeded()), ['a']);
      await expectPaid((payments) => payments.settle(REFERENCE), ['a']);
      await expectPaid((payments) => payments.verify([REFERENCE]), ['a']);
      await expectPaid((payments) => payments.explain(REFERENCE), ['a']);
      paid.clear();
      await expectPaid((payments) => payments.explain(REFERENCE), []);
    },
  );

  it('is forgotten among those of many thousand orders', async () => {
    const orders = { find: (reference: string) => ({ ...ROW, reference }) };
    const { payments, client } = openShop({ answer: { status: 'pending' }, orders });
    for (let index = 0; index < 10_001; index++) await payments.settle(`order-${index}`);
    await payments.settle('order-0');
    expect(client.getPayment).toHaveBeenCalledTimes(10_002);
  });
});

describe('a credit that hangs', { tags: 'P34' }, () => {
  it('ends the answer after `timeout`, keeps its place, and leaves other orders alone', async () => {
    const locked = deferred();
    const { memory, ...shop } = openShop({ timeout: 300 });
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
      message: 'another run of the same order still waits for credit(): look for a locked row',
    });
    expect(shop.credit).toHaveBeenCalledTimes(2);
    locked.resolve();
    await shop.payments.receive(succeeded());
    expect(shop.credit).toHaveBeenCalledTimes(2);
    expect(await shop.isPaid()).toBe(true);
  });

  it('leaves its place to the next webhook when it fails in the end', async () => {
    const locked = deferred();
    const { credit, payments, isPaid } = openShop({ timeout: 300 });
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
    const { find, credit, payments } = openShop({ timeout: 500 });
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

describe('fake timers at their defaults', { tags: 'P17' }, () => {
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
