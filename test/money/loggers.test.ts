/** The line of a failure, through the loggers that shops pass. */
import { Writable } from 'node:stream';
import { createPayments } from '@paylink/payments';
import { paymentWebhook } from '@paylink/fetch';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import Fastify from 'fastify';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import winston from 'winston';

type Line = Readonly<Record<string, unknown>>;
type Logger = NonNullable<Parameters<typeof createPayments>[0]['logger']>;

/** A stream that keeps the JSON of each line. */
function open() {
  const lines: Line[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
  return { lines, stream };
}

const LOGGERS: readonly [string, (stream: Writable) => unknown][] = [
  ['pino', (stream) => pino(stream)],
  ['Fastify', (stream) => Fastify({ logger: { stream } }).log],
  [
    'winston',
    (stream) => winston.createLogger({ transports: new winston.transports.Stream({ stream }) }),
  ],
];

/** The error of an HTTP client, whose fields contain the key. */
function addPoints(): never {
  const config = { headers: { authorization: 'Bearer sk_live_secret.part' } };
  throw Object.assign(new TypeError('no points'), { config });
}

describe.each(LOGGERS)('a line of %s', { tags: 'Q17' }, (_, loggerOn) => {
  it('has stack, code and reference of what a handler threw', async () => {
    const { lines, stream } = open();
    const logger = loggerOn(stream) as Logger;
    const webhook = paymentWebhook({ secret: TEST_SECRET, logger }, async () => addPoints());
    const delivery = signedDelivery({ secret: TEST_SECRET, reference: 'order-1' });
    await webhook(delivery.toRequest('http://localhost/w'));
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatchObject({ code: 'handler_failed', reference: 'order-1', status: 500 });
    expect(lines[0]!['stack']).toMatch(/TypeError: no points\n[^]*addPoints/);
    expect(JSON.stringify(lines[0])).not.toContain('sk_live_');
  });

  it('has the stack of the cause of a settle and of a reconcile', async () => {
    const { lines, stream } = open();
    const logger = loggerOn(stream) as Logger;
    const orders = { find: () => addPoints(), credit: () => 0 };
    const client = { getPayment: () => Promise.reject(new Error('not asked')) };
    const payments = createPayments({ client, orders, logger });
    await payments.settle('order-1');
    await payments.reconcile(['order-2', 'order-3']);
    await vi.waitFor(() => expect(lines).toHaveLength(3));
    expect(lines.map(({ code }) => code)).toEqual(Array(3).fill('orders_unavailable'));
    expect(lines.map(({ reference }) => reference)).toEqual(['order-1', 'order-2', 'order-3']);
    // Once per code and minute.
    expect(lines.map(({ stack }) => typeof stack)).toEqual(['string', 'undefined', 'undefined']);
    expect(lines[0]!['stack']).toContain('addPoints');
  });
});

it(
  'the default logger prints the stack of a cause once per code and minute',
  { tags: 'Q17' },
  async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => error.mockRestore());
    const orders = { find: () => addPoints(), credit: () => 0 };
    const client = { getPayment: () => Promise.reject(new Error('not asked')) };
    const payments = createPayments({ client, orders });
    await payments.reconcile(['order-1', 'order-2']);
    await payments.settle('order-3');
    const texts = error.mock.calls.map(([text]) => String(text));
    expect(texts).toHaveLength(3);
    expect(texts.filter((text) => text.includes('addPoints'))).toHaveLength(1);
    expect(texts.join()).not.toContain('sk_live_');
  },
);

it('a plain logger is called with the message and the fields', { tags: 'Q17' }, async () => {
  const logger = { warn: vi.fn(), error: vi.fn() };
  const cause = new Error('no connection');
  const orders = { find: () => Promise.reject(cause), credit: () => 0 };
  const client = { getPayment: () => Promise.reject(new Error('not asked')) };
  await createPayments({ client, orders, logger }).settle('order-1');
  expect(logger.error).toHaveBeenCalledWith(
    expect.stringMatching(/^\[paylink\] 503 orders_unavailable: settle of "order-1": .*$/),
    {
      ...{ code: 'orders_unavailable', status: 503, reference: 'order-1' },
      error: expect.objectContaining({ code: 'orders_unavailable', cause }) as unknown,
    },
  );
});
