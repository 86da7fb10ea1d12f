import { describe, expect, it, vi, type Mock } from 'vitest';
import {
  createPayments,
  identify,
  memoryStore,
  WebhookError,
  type CreditResult,
  type FailedDelivery,
  type Payments,
} from '../src/index.js';
import { failure, quiet, service, succeeded } from './shop.js';

const keyOf = async (reference: string, more: object = {}): Promise<string> =>
  (await identify({ kind: 'payment.succeeded', reference, ...more })).key;

/** Payments whose store has an inbox. */
function paymentsWith(credit: () => unknown, more: object = {}) {
  const inbox = {
    keep: vi.fn((_failed: FailedDelivery): Promise<void> => Promise.resolve()),
    discard: vi.fn((_key: string): Promise<void> => Promise.resolve()),
  };
  const logger = { warn: vi.fn(), error: vi.fn() };
  const store = { ...memoryStore(), inbox };
  const options = { client: service(), store, credit: credit as () => CreditResult, logger };
  return { payments: createPayments({ ...options, ...more } as never), inbox, logger, store };
}

const refuse = (): never => {
  throw new WebhookError('amount_differs', { status: 409 });
};

/** Expects the delivery that fails now to be the only one in the inbox. */
async function expectLast(payments: Payments, keep: Mock): Promise<void> {
  await failure(payments.receive(succeeded('the last order')));
  await vi.waitFor(() => expect(keep).toHaveBeenCalled());
  expect(keep.mock.calls).toEqual([[expect.objectContaining({ reference: 'the last order' })]]);
}

describe('the inbox of a store', () => {
  it('keeps a failed delivery, with its bytes and the code', async () => {
    const { payments, inbox } = paymentsWith(refuse);
    const event = succeeded('order-1', { tenant: 'north' });
    expect(await failure(payments.receive(event))).toMatchObject({ code: 'amount_differs' });
    await vi.waitFor(() => expect(inbox.keep).toHaveBeenCalledOnce());
    expect(inbox.keep.mock.calls).toEqual([
      [
        {
          key: await keyOf('order-1', { tenant: 'north' }),
          kind: 'payment.succeeded',
          reference: 'order-1',
          tenant: 'north',
          rawBody: event.rawBody,
          code: 'amount_differs',
        },
      ],
    ]);
  });

  it.each<[string, string, object]>([
    ['a credit that throws', 'handler_failed', {}],
    ['a payment that is pending', 'payment_pending', { client: service({ status: 'pending' }) }],
    ['a service that is down', 'confirm_unavailable', { client: service(new Error('down')) }],
    ['a handler that runs too long', 'handler_timeout', { timeout: 1 }],
  ])('keeps %s as %s', async (_, code, more) => {
    const credit = (): Promise<never> =>
      code === 'handler_timeout' ? new Promise(() => undefined) : Promise.reject(new Error('no'));
    const { payments, inbox } = paymentsWith(credit, more);
    await failure(payments.receive(succeeded()));
    await vi.waitFor(() => expect(inbox.keep).toHaveBeenCalledOnce());
    expect(inbox.keep.mock.calls[0]![0].code).toBe(code);
  });

  it('keeps a delivery of another kind whose handler failed', async () => {
    const handlers = { 'payment.refunded': refuse };
    const { payments, inbox } = paymentsWith(() => 1, { handlers });
    await failure(payments.receive(succeeded('order-1', { type: 'payment.refunded' })));
    await vi.waitFor(() => expect(inbox.keep).toHaveBeenCalledOnce());
    expect(inbox.keep.mock.calls[0]![0].kind).toBe('payment.refunded');
  });

  it('keeps neither successes, nor runs of others, nor events that no store takes', async () => {
    const { run } = memoryStore();
    const results = vi.fn(run).mockResolvedValueOnce('in_progress');
    const inbox = { keep: vi.fn(() => Promise.resolve()), discard: vi.fn() };
    const credit = vi.fn((): unknown => 1);
    const store = { ...memoryStore(), run: results, inbox };
    const { payments } = paymentsWith(credit, { store });
    const busy = await failure(payments.receive(succeeded()));
    expect(busy).toMatchObject({ code: 'in_progress' });
    await payments.receive(succeeded());
    await payments.receive(succeeded());
    await payments.receive(succeeded('order-1', { type: 'payment.unknown' }));
    await failure(payments.receive(succeeded(' ')));
    credit.mockReturnValue(0);
    await expectLast(payments, inbox.keep);
  });

  it('discards a delivery if its payment finally failed or was cancelled', async () => {
    let status = 'pending';
    const { payments, inbox } = paymentsWith(() => 1, { client: service(() => ({ status })) });
    await failure(payments.receive(succeeded()));
    expect(inbox.discard).not.toHaveBeenCalled();
    for (status of ['failed', 'cancelled']) await payments.receive(succeeded());
    const key = await keyOf('order-1');
    expect(inbox.discard.mock.calls).toEqual([[key], [key]]);
  });

  it('never delays a reply', async () => {
    const { payments, inbox } = paymentsWith(refuse);
    inbox.keep.mockReturnValue(new Promise(() => undefined));
    expect(await failure(payments.receive(succeeded()))).toMatchObject({ code: 'amount_differs' });
  });

  it.each<[string, () => Promise<void>]>([
    ['rejects', () => Promise.reject(new Error('the disk is full'))],
    [
      'throws',
      () => {
        throw new Error('the disk is full');
      },
    ],
  ])('that %s changes no reply, and is logged once without the body', async (_, keep) => {
    const { payments, inbox, logger } = paymentsWith(refuse);
    inbox.keep.mockImplementation(keep);
    expect(await failure(payments.receive(succeeded()))).toMatchObject({ code: 'amount_differs' });
    await vi.waitFor(() => expect(logger.error).toHaveBeenCalledOnce());
    const [line, fields] = logger.error.mock.calls[0] as [string, object];
    expect(line).toBe(
      '[paylink] not_kept: the inbox lacks the failed delivery of the order "order-1": ' +
        'the disk is full. `reconcile` credits the order if the payment succeeded',
    );
    expect(fields).toEqual({ code: 'not_kept', reference: 'order-1', kind: 'payment.succeeded' });
  });

  it('that cannot discard changes no reply', async () => {
    const { payments, inbox } = paymentsWith(() => 1, { client: service({ status: 'failed' }) });
    inbox.discard.mockRejectedValue(new Error('the disk is full'));
    expect(await payments.receive(succeeded())).toEqual({ outcome: 'ignored' });
  });

  it('that is no inbox is refused at construction', () => {
    for (const inbox of [null, true, {}, { keep: () => undefined }]) {
      const store = { ...memoryStore(), inbox } as never;
      const make = () => createPayments({ client: service(), store, credit: () => 1 });
      expect(make).toThrow('store.inbox must be an inbox, or undefined');
    }
  });

  it('plays no part in settle and reconcile', async () => {
    const { payments, inbox } = paymentsWith(refuse, { logger: quiet });
    await failure(payments.settle('order-1'));
    await payments.reconcile(['order-2']);
    await expectLast(payments, inbox.keep);
  });
});
