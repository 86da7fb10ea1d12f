import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createPayments,
  identify,
  memoryStore,
  WebhookError,
  type CreditResult,
  type PaymentOutcome,
  type PaymentStore,
} from '../src/index.js';
import { SharedAnswers } from '../src/shared-answers.js';
import { deferred, failure, quiet, service, succeeded, tick } from './shop.js';

afterEach(() => {
  vi.useRealTimers();
});

const freeze = () => vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });

function paymentsWith(more: object = {}) {
  const credit = vi.fn((..._given: unknown[]): CreditResult | Promise<CreditResult> => 1);
  const client = service();
  const store = memoryStore();
  const options = { client, store, credit, logger: quiet, ...more };
  return { payments: createPayments(options), credit, client, store };
}

describe('settle', () => {
  it('credits a paid order at once, and a late notification is a duplicate', async () => {
    const { payments, credit } = paymentsWith();
    expect(await payments.settle('order-1')).toEqual({ status: 'success', credited: true });
    expect(credit.mock.calls[0]![1]).toEqual({
      tx: undefined,
      signal: expect.any(AbortSignal) as AbortSignal,
      tenant: undefined,
      source: 'settle',
    });
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'duplicate' });
    expect(credit).toHaveBeenCalledOnce();
  });

  it('answers for a credited order without asking the service', async () => {
    const { payments, client } = paymentsWith();
    await payments.receive(succeeded());
    client.getPayment.mockClear();
    expect(await payments.settle('order-1')).toEqual({ status: 'success', credited: false });
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it.each(['pending', 'failed', 'cancelled'] as const)(
    'returns the status %s, and credits nothing',
    async (status) => {
      const { payments, credit, store } = paymentsWith({ client: service({ status }) });
      expect(await payments.settle('order-1')).toEqual({ status, credited: false });
      expect(credit).not.toHaveBeenCalled();
      const { key } = await identify({ kind: 'payment.succeeded', reference: 'order-1' });
      expect(await store.isDone(key)).toBe(false);
    },
  );

  it('commits the mark of an order that was paid by hand, and credits nothing', async () => {
    const { payments, credit } = paymentsWith();
    credit.mockReturnValue('already_credited');
    expect(await payments.settle('order-1')).toEqual({ status: 'success', credited: false });
    expect(await payments.settle('order-1')).toEqual({ status: 'success', credited: false });
    expect(credit).toHaveBeenCalledOnce();
  });

  it('returns success and credited: false while another process credits the order', async () => {
    const store: PaymentStore<undefined> = {
      isDone: () => Promise.resolve(false),
      run: () => Promise.resolve('in_progress'),
    };
    const { payments } = paymentsWith({ store });
    expect(await payments.settle('order-1')).toEqual({ status: 'success', credited: false });
  });

  it('throws not_credited, logs it once, and credits at the next call', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { payments, credit } = paymentsWith({ logger });
    credit.mockReturnValueOnce(0);
    const error = await failure(payments.settle('order-1'));
    expect(error).toMatchObject({ code: 'not_credited', status: 503 });
    expect(logger.error.mock.calls).toEqual([
      [
        expect.stringMatching(/503 not_credited: settle of "order-1": credit changed no row/),
        { code: 'not_credited', status: 503, reference: 'order-1' },
      ],
    ]);
    expect(await payments.settle('order-1')).toEqual({ status: 'success', credited: true });
    expect(logger.error).toHaveBeenCalledOnce();
  });

  it.each([
    [
      new Error('the database is away'),
      'handler_failed',
      /500 handler_failed: settle of "order-1": the dat/,
    ],
    ['text', 'handler_failed', /threw text/],
    [new WebhookError('amount_differs', { status: 409 }), 'amount_differs', /409 amount_differs/],
    [new WebhookError('in_progress'), 'in_progress', /503 in_progress/],
  ])('throws the error of credit unchanged, and logs it: %o', async (thrown, code, line) => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { payments, credit } = paymentsWith({ logger });
    credit.mockImplementation(() => {
      throw thrown;
    });
    await expect(payments.settle('order-1')).rejects.toBe(thrown);
    expect(logger.error).toHaveBeenCalledWith(
      expect.stringMatching(line),
      expect.objectContaining({ code }),
    );
  });

  it('logs the cause too, in one line, if the store or credit failed', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const run = () => Promise.reject(new Error('permission denied for table paylink_marks'));
    const closed = paymentsWith({ logger, store: { ...memoryStore(), run } });
    await failure(closed.payments.settle('order-1'));
    const { payments, credit } = paymentsWith({ logger });
    const cause = new TypeError('no\n[paylink] 200 forged');
    credit.mockRejectedValue(new Error('Failed query:\nUPDATE orders', { cause }));
    await failure(payments.settle('order-1'));
    expect(logger.error.mock.calls.map(([line]) => String(line))).toEqual([
      expect.stringContaining(
        'failed (Error: permission denied for table paylink_marks)',
      ) as string,
      expect.stringContaining(
        '"order-1": Failed query: UPDATE orders (TypeError: no [paylink] 200 forged)',
      ) as string,
    ]);
  });

  it('throws an error of credit unchanged that no logger can read', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { payments, credit } = paymentsWith({ logger });
    const hostile = Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('unreadable');
      },
    });
    credit.mockRejectedValue(hostile);
    await expect(payments.settle('order-1').catch((error: unknown) => error)).resolves.toBe(
      hostile,
    );
    expect(logger.error.mock.calls[0]![0]).toContain('an error that cannot be read');
  });

  it('throws confirm_unavailable with the error of the client as its cause, and logs nothing', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const notFound = Object.assign(new Error('not found'), { code: 'not_found' });
    const { payments } = paymentsWith({ client: service(notFound), logger });
    const error = await failure(payments.settle('order-1'));
    expect(error).toMatchObject({ code: 'confirm_unavailable', cause: notFound });
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('throws store_unavailable if the store cannot be read', async () => {
    const store = { isDone: () => Promise.reject(new Error('down')), run: () => undefined };
    const { payments, client } = paymentsWith({ store });
    const error = await failure(payments.settle('order-1'));
    expect(error).toMatchObject({ code: 'store_unavailable', status: 503 });
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it.each(['', ' ', '\0', 7, null])('rejects the reference %o', async (reference) => {
    const { payments, client } = paymentsWith();
    const error = await failure(payments.settle(reference as string));
    expect(error).toMatchObject({ code: 'invalid_reference', status: 400 });
    expect(client.getPayment).not.toHaveBeenCalled();
  });

  it('asks for each tenant with its own client', async () => {
    const { payments, client } = paymentsWith();
    for (const tenant of ['acme', 'bolt']) await payments.settle('order-1', { tenant });
    expect(client.getPayment.mock.calls.map(([, { tenant }]) => tenant)).toEqual(['acme', 'bolt']);
  });

  it('reports each credit that it starts to observe', async () => {
    const outcomes: PaymentOutcome[] = [];
    const observe = (outcome: PaymentOutcome) => outcomes.push(outcome);
    const { payments, credit } = paymentsWith({ observe });
    credit.mockReturnValueOnce(0);
    await failure(payments.settle('order-1'));
    await payments.settle('order-1');
    await payments.settle('order-1');
    expect(outcomes.map(({ source, outcome, code }) => [source, outcome, code])).toEqual([
      ['settle', 'failed', 'not_credited'],
      ['settle', 'handled', undefined],
    ]);
  });
});

describe('the request that calls of settle share', () => {
  it('asks once for all calls that come together, and one of them credits', async () => {
    const answer = deferred();
    const client = service(() => answer.promise.then(() => ({})));
    const { payments, credit } = paymentsWith({ client });
    const running = Array.from({ length: 50 }, () => payments.settle('order-1'));
    await tick();
    answer.resolve();
    const credited = (await Promise.all(running)).filter((settled) => settled.credited);
    const questions = client.getPayment.mock.calls.length;
    expect([credited.length, credit.mock.calls.length, questions]).toEqual([1, 1, 1]);
  });

  it('does not ask again for 2 s, whether the answer was pending or a failure', async () => {
    freeze();
    for (const answer of [{ status: 'pending' }, new Error('no such payment')]) {
      const client = service(answer);
      const { payments } = paymentsWith({ client });
      const poll = () => payments.settle('order-1').catch((error: unknown) => error);
      const first = await poll();
      vi.advanceTimersByTime(1_999);
      expect(await poll()).toEqual(first);
      expect(client.getPayment).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(1);
      await poll();
      expect(client.getPayment).toHaveBeenCalledTimes(2);
    }
  });

  it('asks once for each reference and 2 s, with 10,000 calls in 10 s', async () => {
    freeze();
    const client = service({ status: 'pending' });
    const { payments } = paymentsWith({ client });
    for (let round = 0; round < 10; round++) {
      const polls = Array.from({ length: 1_000 }, (_, n) => payments.settle(`order-${n % 100}`));
      await Promise.all(polls);
      vi.advanceTimersByTime(1_000);
    }
    expect(client.getPayment).toHaveBeenCalledTimes(100 * 5);
  });

  it('continues for the others if one caller aborts', async () => {
    const answer = deferred();
    const client = service(() => answer.promise.then(() => ({})));
    const { payments } = paymentsWith({ client });
    const controller = new AbortController();
    const first = failure(payments.settle('order-1', { signal: controller.signal }));
    const second = payments.settle('order-1');
    await vi.waitUntil(() => client.getPayment.mock.calls.length === 1);
    const reason = new Error('the customer left');
    controller.abort(reason);
    expect(await first).toBe(reason);
    expect(client.getPayment.mock.calls[0]![1].signal.aborted).toBe(false);
    answer.resolve();
    expect(await second).toEqual({ status: 'success', credited: true });
    expect(client.getPayment).toHaveBeenCalledOnce();
  });

  it('ends after `timeout` with confirm_unavailable if the client hangs', async () => {
    const signals: AbortSignal[] = [];
    const client = service((_reference, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    const { payments } = paymentsWith({ client, timeout: 20 });
    const error = await failure(payments.settle('order-1'));
    expect(error).toMatchObject({ code: 'confirm_unavailable', status: 503 });
    expect(signals[0]!.aborted).toBe(true);
  });

  it('keeps the answers of 10,000 keys at most, and drops the oldest first', async () => {
    freeze();
    const answers = new SharedAnswers<string>();
    const ask = vi.fn(async () => 'pending');
    for (let n = 0; n <= 10_000; n++) await answers.get(`key-${n}`, ask);
    await answers.get('key-1', ask);
    expect(ask).toHaveBeenCalledTimes(10_001);
    await answers.get('key-0', ask);
    expect(ask).toHaveBeenCalledTimes(10_002);
    vi.advanceTimersByTime(2_000);
    await answers.get('key-new', ask);
    // All that had expired went with it, so that an idle process keeps nothing.
    expect(answers.size).toBe(1);
  });
});

describe('the time of settle', () => {
  it('limits reading the store and the credit, each by `timeout`', async () => {
    const store = { isDone: () => new Promise(() => undefined), run: () => undefined };
    const hanging = paymentsWith({ store, timeout: 20 });
    expect(await failure(hanging.payments.settle('order-1'))).toMatchObject({
      code: 'store_unavailable',
    });
    const { payments, credit } = paymentsWith({ timeout: 20 });
    credit.mockReturnValue(new Promise(() => undefined));
    expect(await failure(payments.settle('order-1'))).toMatchObject({ code: 'handler_timeout' });
  });

  it('ends with the signal of the caller, which aborts the credit and logs nothing', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { payments, credit } = paymentsWith({ logger });
    const controller = new AbortController();
    const begun = deferred();
    let signal: AbortSignal | undefined;
    credit.mockImplementation((_payment, context) => {
      ({ signal } = context as { signal: AbortSignal });
      begun.resolve();
      return new Promise(() => undefined);
    });
    const running = failure(payments.settle('order-1', { signal: controller.signal }));
    await begun.promise;
    const reason = new Error('the customer left');
    controller.abort(reason);
    expect(await running).toBe(reason);
    expect(signal!.aborted).toBe(true);
    expect(logger.error).not.toHaveBeenCalled();
    credit.mockReset().mockReturnValue(1);
    expect(await payments.settle('order-1')).toMatchObject({ credited: true });
    const aborted = { signal: AbortSignal.abort(reason) };
    expect(await failure(payments.settle('order-2', aborted))).toBe(reason);
  });
});
