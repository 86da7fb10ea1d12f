import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const mine = new Error('mine');
/** The log line of core. */
const LINE = [expect.stringMatching(/^\[paylink\] 500 handler_failed: "order-42": /)];
let server: Server;
let printed: unknown[][];

beforeEach(() => {
  printed = [];
  vi.spyOn(console, 'error').mockImplementation(
    (...values: unknown[]) => void printed.push(values),
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

async function answerOf(
  listener: (req: IncomingMessage, res: ServerResponse) => Promise<void>,
): Promise<[number, string]> {
  server = createServer((req, res) => void listener(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await signedDelivery({ secret }).send(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  return [response.status, await response.text()];
}

describe('paymentWebhook on node:http', () => {
  it('gives the handler the request and `signal`, and no means to answer', async () => {
    const handler = vi.fn();
    expect(await answerOf(paymentWebhook({ secret }, handler))).toEqual([200, '{"received":true}']);
    const [, context] = handler.mock.calls[0] as [unknown, object];
    expect(Object.keys(context).sort()).toEqual(['req', 'signal']);
  });

  it('answers 500 if the handler throws, and gives the error to onError with the request', async () => {
    const onError = vi.fn();
    const answer = await answerOf(paymentWebhook({ secret, onError }, () => Promise.reject(mine)));
    expect(answer).toEqual([500, '{"error":"handler_failed"}']);
    const host = { req: expect.objectContaining({ method: 'POST' }) as unknown };
    expect(onError).toHaveBeenCalledExactlyOnceWith(mine, host);
    expect(printed).toEqual([LINE]);
  });

  it('prints the error of the handler if there is no onError', async () => {
    expect(await answerOf(paymentWebhook({ secret }, () => Promise.reject(mine)))).toEqual([
      500,
      '{"error":"handler_failed"}',
    ]);
    expect(printed).toEqual([LINE, ['[paylink] the webhook handler failed:', mine]]);
  });

  it.each([
    [
      'throws',
      () => {
        throw mine;
      },
    ],
    ['rejects', () => Promise.reject(mine)],
  ])('prints the error that onError itself %s', async (_how, onError) => {
    const answer = await answerOf(
      paymentWebhook({ secret, onError }, () => Promise.reject(new Error('of the handler'))),
    );
    expect(answer).toEqual([500, '{"error":"handler_failed"}']);
    await vi.waitFor(() =>
      expect(printed).toEqual([LINE, ['[paylink] the webhook handler failed:', mine]]),
    );
  });

  it('answers 500 and lives on if the console throws', async () => {
    const tried = vi.fn(() => {
      throw new Error('the log is full');
    });
    vi.mocked(console.error).mockImplementation(tried);
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    expect(await answerOf(paymentWebhook({ secret }, () => Promise.reject(mine)))).toEqual([
      500,
      '{"error":"handler_failed"}',
    ]);
    // Node tells of a rejection when the microtasks of its turn are done.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(tried).toHaveBeenCalled();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('answers a WebhookError of the handler with its code, without onError', async () => {
    const onError = vi.fn();
    const error = new WebhookError('unknown_order', { status: 503 });
    expect(
      await answerOf(paymentWebhook({ secret, onError }, () => Promise.reject(error))),
    ).toEqual([503, '{"error":"unknown_order"}']);
    expect(onError).not.toHaveBeenCalled();
    // Once, with its code.
    expect(printed).toEqual([['[paylink] 503 unknown_order: "order-42": unknown_order']]);
  });
});
