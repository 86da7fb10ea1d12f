import { signedDelivery } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import { createGate, createReceiver, WebhookError, webhookEvent } from '../../src/index.js';
import { createReceiverOrRefuse } from '../../src/internal.js';
import { createLog, deliver, forged, secret } from '../deliver.js';

const logger = createLog();

describe('the body', () => {
  it('accepts a body at the limit, and refuses one byte more', async () => {
    const rawBody = '{"reference":"a"}';
    const replyUnder = async (bodyLimit: number) =>
      createReceiver({ secret, bodyLimit, logger }, () => undefined).receive(
        deliver({ rawBody }),
        {},
      );
    expect(await replyUnder(rawBody.length)).toMatchObject({ status: 200 });
    expect(await replyUnder(rawBody.length - 1)).toMatchObject({ status: 413 });
  });

  const limits = { bodyLimit: 100, bodyTimeout: 200 };
  it.each([
    [limits, limits],
    [{}, { bodyLimit: 65_536, bodyTimeout: 10_000 }],
  ])('asks for the body once, in the tick of the call, with its limits: %j', async (given, own) => {
    const body = vi.fn(() => Promise.resolve<Uint8Array>(signedDelivery().rawBody));
    const receiver = createReceiver({ secret, ...given }, () => undefined);
    const receiving = receiver.receive(deliver({ body }), {});
    // A turn later, the stream could have flowed for another listener (O11).
    expect(body).toHaveBeenCalledExactlyOnceWith(own);
    await receiving;
  });

  it('cannot be changed between the signature and the parser', async () => {
    const bytes = new Uint8Array(signedDelivery().rawBody);
    const handler = vi.fn();
    const changing = async () => {
      await Promise.resolve();
      bytes.set(Buffer.from('{"reference":"order-99"}'));
      return { secret, tenant: null };
    };
    const receiver = createReceiver({ secret: changing, logger }, handler);
    await receiver.receive(deliver({ body: () => Promise.resolve(bytes) }), {});
    expect(handler.mock.calls[0]![0]).toMatchObject({ reference: 'order-42' });
  });
});

describe('the proof', () => {
  it('runs no merchant code but the secret function for a forged delivery', async () => {
    const merchant = { handler: vi.fn(), validate: vi.fn(), parse: vi.spyOn(JSON, 'parse') };
    const schema = {
      '~standard': { version: 1, vendor: 'test', validate: merchant.validate },
    } as const;
    const options = { secret, logger, events: { 'payment.succeeded': schema } };
    const receiver = createReceiver(options, merchant.handler);
    expect(await receiver.receive(deliver({ extra: forged }), {})).toMatchObject({ status: 401 });
    for (const called of Object.values(merchant)) expect(called).not.toHaveBeenCalled();
    merchant.parse.mockRestore();
  });

  it('binds no environment: staging and production share events', { tags: 'B16' }, async () => {
    const handler = vi.fn(() => Promise.reject(new WebhookError('no_order', { status: 404 })));
    const ofStaging = deliver({ secret: 'a-secret-of-staging' });
    const apart = createReceiver({ secret: 'a-secret-of-production', logger }, handler);
    expect(await apart.receive(ofStaging, {})).toMatchObject({ status: 401 });
    const shared = createReceiver({ secret: 'a-secret-of-staging', logger }, handler);
    expect(await shared.receive(ofStaging, {})).toMatchObject({ status: 404 });
    expect(handler).toHaveBeenCalledOnce();
  });

  it('reads the signature and the event from the headers that its options name', async () => {
    const headers = { signature: 'X-Other-Signature', event: 'X-Other-Event' };
    const receiver = createReceiver({ secret, headers, logger }, () => undefined);
    expect(await receiver.receive(deliver({ headers }), {})).toMatchObject({ status: 200 });
    expect(await receiver.receive(deliver(), {})).toMatchObject({ status: 401 });
  });

  it('gives the secret function the host, and the event its tenant', async () => {
    const provide = vi.fn(({ path }: { readonly path: string }) => ({ secret, tenant: path }));
    const handler = vi.fn();
    const receiver = createReceiver({ secret: provide }, handler);
    const host = { path: 'acme' };
    await receiver.receive(deliver(), host);
    expect(provide).toHaveBeenCalledExactlyOnceWith(host);
    expect(handler.mock.calls[0]![0]).toMatchObject({ tenant: 'acme' });
  });
});

const handlers = { 'payment.succeeded': () => undefined };

describe('createReceiverOrRefuse', () => {
  it('refuses every delivery without a secret, logs the reason once, and reads no body', async () => {
    const log = createLog();
    const observe = vi.fn();
    const onError = vi.fn();
    const options = { secret: undefined, logger: log, observe, onError };
    const receiver = createReceiverOrRefuse(options, handlers);
    const body = vi.fn();
    for (let round = 0; round < 2; round++) {
      const reply = await receiver.receive(deliver({ body }), {});
      expect(reply).toMatchObject({ status: 500, body: '{"error":"misconfigured"}' });
    }
    expect(body).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
    const line = '[paylink] 500 misconfigured: this route cannot verify (secret is missing.';
    expect(log.error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(line),
      expect.objectContaining({ code: 'misconfigured', status: 500 }),
    );
    const outcome = { outcome: 'failed', code: 'misconfigured' };
    expect(observe.mock.calls).toMatchObject([[outcome], [outcome]]);
  });

  it.each([secret, undefined])('throws for every other mistake, with the secret %s', (given) => {
    expect(() => createReceiverOrRefuse({ secret: given, bodyLimit: 0 }, handlers)).toThrow(
      'bodyLimit',
    );
    expect(() => createReceiverOrRefuse({ secret: given, limit: 1 } as never, handlers)).toThrow(
      'limit',
    );
    expect(() => createReceiverOrRefuse({ secret: given }, {} as never)).toThrow(
      'payment.succeeded',
    );
  });
});

describe('a gate', () => {
  const other = deliver({ type: 'payment.refunded' });

  it('hands on a configured event, and replies to every other delivery', async () => {
    const gate = createGate({ secret, logger });
    const [request, refused] = [{}, {}];
    expect(await gate.admit(deliver(), {}, request)).toBeUndefined();
    const genuine = { type: 'payment.succeeded', reference: 'order-42' };
    expect(webhookEvent(request)).toMatchObject(genuine);
    expect(await gate.admit(other, {}, refused)).toMatchObject({ status: 200 });
    const forgery = deliver({ extra: forged });
    expect(await gate.admit(forgery, {}, refused)).toMatchObject({ status: 401 });
    expect(() => webhookEvent(refused)).toThrow('found no verified event');
  });

  it('hands on other kinds only with `unrecognized: "pass"`', async () => {
    const request = {};
    const gate = createGate({ secret, unrecognized: 'pass' });
    expect(await gate.admit(other, {}, request)).toBeUndefined();
    const event = { type: 'unrecognized', kind: 'payment.refunded' };
    expect(webhookEvent(request)).toMatchObject(event);
  });

  it('refuses a contradicting status, because no service decides', async () => {
    const pending = deliver({ payload: { status: 'pending' } });
    const reply = await createGate({ secret, logger }).admit(pending, {}, {});
    expect(reply).toMatchObject({ status: 503, body: '{"error":"payment_pending"}' });
  });

  it('answers 500 for the bug of a schema', async () => {
    const validate = () => Promise.reject(new RangeError('bug'));
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const gate = createGate({ secret, logger, events: { 'payment.succeeded': schema } });
    const reply = await gate.admit(deliver(), {}, {});
    expect(reply).toMatchObject({ status: 500, body: '{"error":"handler_failed"}' });
  });
});
