/** Every status that core sends by itself, each pinned once. The rows of DESIGN section 6. */
import { signedDelivery } from '@paylink/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createReceiver, WebhookError } from '../../src/index.js';
import { errorReply } from '../../src/internal.js';
import type { NoEvents, ReceiverOptions } from '../../src/index.js';
import { createLog, deliver, secret, type DeliverOptions } from '../deliver.js';

const logger = createLog();
const json = { 'content-type': 'application/json' };
const headersOf = (status: number) => ({
  ...json,
  ...(status === 401 && { 'www-authenticate': 'Signature' }),
  ...(status === 405 && { allow: 'POST' }),
  ...(status === 503 && { 'retry-after': '5' }),
});

afterEach(() => {
  vi.useRealTimers();
});

interface Row {
  readonly delivery: DeliverOptions;
  readonly options?: Partial<ReceiverOptions<NoEvents, object>>;
  readonly handler?: () => unknown;
}
type Case = readonly [status: number, code: string, when: string, row: Row];

const header = (name: string, value?: string): Row => ({ delivery: { extra: { [name]: value } } });
const signature = (value?: string): Row => header('x-service-signature', value);
const content = (rawBody: string | Uint8Array): Row => ({ delivery: { rawBody } });
const payload = (fields: object): Row => ({ delivery: { payload: { ...fields } } });
const reading = (body: () => Promise<unknown>): Row => ({ delivery: { body: body as never } });
const failsWith = (code: string) => reading(() => Promise.reject(new WebhookError(code)));
const failing = () => Promise.reject(new Error('vault'));
const hanging = () => new Promise(() => undefined);
const refusing = () => Promise.reject(new WebhookError('unknown_order'));
const events = { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) };

// oxfmt-ignore
const beforeTheBody: readonly Case[] = [
  [405, 'method_not_allowed', 'a GET', { delivery: { method: 'GET' } }],
  [405, 'method_not_allowed', 'a PUT', { delivery: { method: 'PUT' } }],
  [405, 'method_not_allowed', 'a lower-case post', { delivery: { method: 'post' } }],
  [401, 'invalid_signature', 'no signature', signature()],
  [401, 'invalid_signature', 'a repeated signature', signature('a, a')],
  [413, 'body_too_large', 'a length over the limit', header('content-length', '65537')],
  [413, 'body_too_large', 'a length that is not a number', header('content-length', 'many')],
  [415, 'unsupported_encoding', 'gzip', header('content-encoding', 'gzip')],
  [415, 'unsupported_encoding', 'two encodings', header('content-encoding', 'identity, br')],
];

// oxfmt-ignore
const withTheBody: readonly Case[] = [
  [401, 'invalid_signature', 'a signature of other bytes', signature('0'.repeat(64))],
  [413, 'body_too_large', 'a body over the limit', { delivery: {}, options: { bodyLimit: 23 } }],
  [413, 'body_too_large', 'a body that an adapter refused', failsWith('body_too_large')],
  [408, 'body_timeout', 'a body that is too slow', failsWith('body_timeout')],
  [400, 'incomplete_body', 'a sender that went away', failsWith('incomplete_body')],
  [500, 'body_consumed', 'a parsed body', reading(() => Promise.resolve({ reference: 'a' }))],
  [503, 'secret_unavailable', 'a failing secret function',
    { delivery: {}, options: { secret: failing } }],
  [400, 'invalid_event', 'no event header', header('x-service-event')],
  [400, 'invalid_payload', 'a body that is not UTF-8', content(Uint8Array.of(0xff))],
  [400, 'invalid_payload', 'a body that is not JSON', content('{')],
  [400, 'invalid_payload', 'a body without reference', content('{}')],
  [400, 'invalid_payload', 'a payload that its schema refuses',
    { delivery: { type: 'payment.refunded' }, options: { events } }],
  [400, 'event_contradicted', 'a signed status `failed`', payload({ status: 'failed' })],
  [400, 'event_contradicted', 'a signed status `cancelled`', payload({ status: 'cancelled' })],
  [503, 'payment_pending', 'a signed status `pending`', payload({ status: 'pending' })],
  [503, 'handler_timeout', 'a handler that hangs',
    { delivery: {}, options: { handlerTimeout: 5 }, handler: hanging }],
  [503, 'unknown_order', 'a WebhookError of the handler', { delivery: {}, handler: refusing }],
];

async function receive({ delivery, options, handler = () => undefined }: Row) {
  const all = { secret, logger, ...options } as ReceiverOptions<NoEvents, object>;
  return createReceiver(all, handler as never).receive(deliver(delivery), {});
}

describe('the receiver', () => {
  it.each([...beforeTheBody, ...withTheBody])(
    'replies %i %s to %s',
    async (status, code, _when, row) => {
      const reply = { status, headers: headersOf(status), body: `{"error":"${code}"}` };
      expect(await receive(row)).toEqual(reply);
    },
  );

  it.each(beforeTheBody)(
    'reads no body and runs no handler before %i %s: %s',
    async (...[, , , row]) => {
      const body = vi.fn(() => Promise.resolve(new Uint8Array()));
      const handler = vi.fn();
      await receive({ ...row, delivery: { ...row.delivery, body }, handler });
      expect(body).not.toHaveBeenCalled();
      expect(handler).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['a handled event', {}],
    ['a signed event of another kind', { type: 'payment.refunded' }],
    ['an identity encoding', { extra: { 'content-encoding': 'Identity' } }],
    ['an empty encoding', { extra: { 'content-encoding': '' } }],
    ['a declared length at the limit', { extra: { 'content-length': '65536' } }],
  ])('replies 200 to %s', async (_when, delivery) => {
    expect(await receive({ delivery })).toEqual({
      status: 200,
      headers: json,
      body: '{"received":true}',
    });
  });

  it.each([{}, { type: 'payment.refunded' }, { method: 'GET' }])(
    'makes the headers of each reply anew, because a host may change them: %j',
    async (delivery) => {
      const { headers } = await receive({ delivery });
      expect((await receive({ delivery })).headers).not.toBe(headers);
    },
  );

  it('gives every wrong signature the same reply', async () => {
    const other = signedDelivery({ secret: 'another-secret' }).signature;
    const values = [undefined, '', 'ab', 'z'.repeat(64), '0'.repeat(64), other];
    const replies = await Promise.all(values.map((value) => receive(signature(value))));
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  });
});

describe('errorReply', () => {
  it.each([
    ['confirm_unavailable', 503, '5'],
    ['orders_unavailable', 503, '5'],
    ['unknown_order', 503, '5'],
    ['no_payment', 503, '5'],
    ['amount_differs', 409, undefined],
    ['order_closed', 409, undefined],
    ['invalid_order', 500, undefined],
    ['not_credited', 503, '60'],
    ['misconfigured', 500, undefined],
    ['handler_failed', 500, undefined],
    ['a_code_of_the_merchant', 500, undefined],
    ['constructor', 500, undefined],
  ])('gives %s the status %i and retry-after %s', (code, status, after) => {
    const headers = after === undefined ? json : { ...json, 'retry-after': after };
    const reply = { status, headers, body: JSON.stringify({ error: code }) };
    expect(errorReply(new WebhookError(code))).toEqual(reply);
  });

  it.each([
    [0, '1'],
    [1, '1'],
    [1_001, '2'],
    [90_000, '90'],
    [31_536_000_000, '86400'],
  ])(
    'turns a retryAfter of %i ms into whole seconds, at least one, at most a day',
    (retryAfter, seconds) => {
      const { headers } = errorReply(new WebhookError('confirm_unavailable', { retryAfter }));
      expect(headers['retry-after']).toBe(seconds);
      const refused = errorReply(new WebhookError('amount_differs', { retryAfter }));
      expect(refused.headers).toEqual(json);
    },
  );

  it('quotes neither message nor cause', () => {
    const cause = new Error('secret cause');
    const error = new WebhookError('orders_unavailable', { message: 'secret words', cause });
    expect(JSON.stringify(errorReply(error))).not.toContain('secret');
  });
});
