import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createDispatcher, memoryStore, WebhookError, type DeliveryOutcome, type ProvenDelivery } from '../src/index.js';

const logger = { warn: vi.fn(), error: vi.fn() };

function proven(body: object = { reference: 'order-1' }, kind = 'payment.succeeded'): ProvenDelivery {
  return { kind, rawBody: Buffer.from(JSON.stringify(body)), secretIndex: 0 };
}

describe('a dispatcher', () => {
  it('runs the handler of what was proven elsewhere, with the host’s context, and needs no secret', async () => {
    const dispatcher = createDispatcher(
      {},
      { 'payment.succeeded': (event, { job }: { readonly job: string }) => [event.reference, job] },
    );
    expect(await dispatcher.dispatch(proven(), { job: '7' })).toEqual({ outcome: 'handled', value: ['order-1', '7'] });
  });

  it('runs the handler once for each key, and confirms before', async () => {
    const handler = vi.fn();
    const confirm = { getPayment: vi.fn((reference: string) => Promise.resolve({ reference, status: 'success' })) };
    const dispatcher = createDispatcher({ idempotency: memoryStore(), confirm }, handler);
    expect(await dispatcher.dispatch(proven(), {})).toEqual({ outcome: 'handled', value: undefined });
    expect(await dispatcher.dispatch(proven({ reference: 'order-1', again: true }), {})).toEqual({ outcome: 'duplicate' });
    expect(handler).toHaveBeenCalledOnce();
    expect(confirm.getPayment).toHaveBeenCalledOnce();
  });

  it('reads the payload by its schema again, so that a queue need not carry what a schema made of it', async () => {
    const events = { 'payment.refunded': z.object({ reference: z.string(), at: z.coerce.date() }) };
    const seen: unknown[] = [];
    const dispatcher = createDispatcher(
      { events, logger },
      { 'payment.succeeded': () => undefined, 'payment.refunded': ({ payload }) => void seen.push(payload.at) },
    );
    await dispatcher.dispatch(proven({ reference: 'a', at: '2026-01-01T00:00:00Z' }, 'payment.refunded'), {});
    expect(seen).toEqual([new Date('2026-01-01T00:00:00Z')]);
    await expect(dispatcher.dispatch(proven({ reference: 'a', at: 'never' }, 'payment.refunded'), {})).rejects.toMatchObject({
      code: 'invalid_payload',
    });
  });

  it('fails for a kind without a handler, since a receiver took it in', async () => {
    const dispatcher = createDispatcher({ logger }, () => undefined);
    await expect(dispatcher.dispatch(proven(undefined, 'payment.refunded'), {})).rejects.toMatchObject({
      name: 'WebhookError',
      code: 'misconfigured',
      status: 500,
    });
    const open = createDispatcher({}, { 'payment.succeeded': () => 'known', unrecognized: ({ kind }) => kind });
    expect(await open.dispatch(proven(undefined, 'payment.refunded'), {})).toMatchObject({ value: 'payment.refunded' });
  });

  it('throws what the handler threw, as the same object', async () => {
    const error = new RangeError('of the handler');
    const dispatcher = createDispatcher({}, () => Promise.reject(error));
    await expect(dispatcher.dispatch(proven(), {})).rejects.toBe(error);
  });

  it.each([
    ['event_contradicted', { reference: 'a', status: 'failed' }, 'payment.succeeded'],
    ['payment_pending', { reference: 'a', status: 'pending' }, 'payment.succeeded'],
    ['invalid_payload', { reference: 7 }, 'payment.succeeded'],
    ['invalid_event', { reference: 'a' }, 'Payment.Succeeded'],
  ])('refuses with %s what a receiver would refuse', async (code, body, kind) => {
    const handler = vi.fn();
    await expect(createDispatcher({ logger }, handler).dispatch(proven(body, kind), {})).rejects.toMatchObject({ code });
    expect(handler).not.toHaveBeenCalled();
  });

  it('takes a Response that is not 2xx for no success, at once and later, and hands other values on', async () => {
    const idempotency = memoryStore();
    const dispatch = (handler: () => unknown): Promise<unknown> =>
      createDispatcher({ idempotency, logger }, handler).dispatch(proven(), {});
    for (const status of [302, 404, 503]) {
      const refusal = status === 302 ? Response.redirect('https://shop.example/', 302) : new Response(null, { status });
      await expect(dispatch(() => refusal)).rejects.toThrow(`the handler returned a Response of status ${status}.`);
      await expect(dispatch(() => Promise.resolve(refusal))).rejects.toThrow(`of status ${status}.`);
    }
    // Not by a field alone: other libraries give such results too.
    for (const value of [{ ok: false, status: 503 }, new Response(null, { status: 204 })]) {
      expect(await createDispatcher({}, () => value).dispatch(proven(), {})).toEqual({ outcome: 'handled', value });
    }
    expect(await dispatch(() => 'credited')).toEqual({ outcome: 'handled', value: 'credited' });
  });

  it('leaves a signed status that contradicts the kind to `confirm`, where there is one', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const confirm = { getPayment: (reference: string) => Promise.resolve({ reference, status: 'success' }) };
    const dispatcher = createDispatcher({ confirm, observe: (outcome) => outcomes.push(outcome) }, () => 'credited');
    expect(await dispatcher.dispatch(proven({ reference: 'a', status: 'failed' }), {})).toMatchObject({ value: 'credited' });
    expect(outcomes).toMatchObject([{ outcome: 'handled', code: 'event_contradicted' }]);
  });

  it('refuses a body that is no bytes (F03)', async () => {
    const delivery = { ...proven(), rawBody: '{"reference":"a"}' as unknown as Uint8Array };
    await expect(createDispatcher({ logger }, () => undefined).dispatch(delivery, {})).rejects.toMatchObject({
      code: 'body_consumed',
    });
  });

  it('gives up at handlerTimeout, and aborts the handler (G03)', async () => {
    const dispatcher = createDispatcher(
      { handlerTimeout: 20, logger },
      (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    );
    await expect(dispatcher.dispatch(proven(), {})).rejects.toMatchObject({ code: 'handler_timeout', status: 503 });
  });

  it('is cancelled by a signal from outside, under way and before', async () => {
    const controller = new AbortController();
    const aborted = vi.fn();
    const handler = vi.fn(
      (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
        new Promise(() => {
          signal.addEventListener('abort', aborted);
          controller.abort();
        }),
    );
    const dispatcher = createDispatcher({ logger }, handler);
    await expect(dispatcher.dispatch(proven(), {}, { signal: controller.signal })).rejects.toMatchObject({
      code: 'handler_timeout',
    });
    expect(aborted).toHaveBeenCalledOnce();
    await expect(dispatcher.dispatch(proven(), {}, { signal: controller.signal })).rejects.toMatchObject({
      code: 'handler_timeout',
    });
    expect(handler).toHaveBeenCalledOnce();
  });

  it('says whether an attempt was cancelled or its time was over', async () => {
    const hang = (): Promise<never> => new Promise(() => undefined);
    const dispatcher = createDispatcher({ handlerTimeout: 20, logger }, hang);
    await expect(dispatcher.dispatch(proven(), {}, { signal: AbortSignal.abort() })).rejects.toThrow('cancelled before its end');
    await expect(dispatcher.dispatch(proven(), {})).rejects.toThrow('not done after 20 ms');
  });

  it('is observed once for each dispatch', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const handler = vi.fn().mockRejectedValueOnce(new WebhookError('unknown_order', { status: 503 }));
    const dispatcher = createDispatcher(
      { idempotency: memoryStore(), observe: (outcome) => outcomes.push(outcome), logger },
      handler,
    );
    await dispatcher.dispatch(proven(), {}).catch(() => undefined);
    await dispatcher.dispatch(proven(), {});
    await dispatcher.dispatch(proven(), {});
    expect(outcomes).toMatchObject([
      { outcome: 'failed', code: 'unknown_order', type: 'payment.succeeded', reference: 'order-1', secretIndex: 0, bodyBytes: 23 },
      { outcome: 'handled' },
      { outcome: 'duplicate' },
    ]);
  });

  it('tells what the handler refused from what was refused before it', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const refusing = createDispatcher({ observe: (outcome) => outcomes.push(outcome), logger }, () => {
      throw new WebhookError('unknown_order', { status: 404 });
    });
    await refusing.dispatch(proven(), {}).catch(() => undefined);
    await refusing.dispatch(proven({ reference: 7 }), {}).catch(() => undefined);
    expect(outcomes).toMatchObject([
      { outcome: 'failed', code: 'unknown_order' },
      { outcome: 'rejected', code: 'invalid_payload' },
    ]);
  });

  it('names the option that is wrong', () => {
    expect(() => createDispatcher({ secret: 'x' } as never, () => undefined)).toThrow(/secret is an unknown option/);
    expect(() => createDispatcher({}, undefined as never)).toThrow(/handlers/);
    expect(() => createDispatcher({}, {} as never)).toThrow(/handlers\['payment.succeeded'\]/);
  });
});
