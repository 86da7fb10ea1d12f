import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStore, WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const mine = new Error('mine');
let server: Server;
let printed: unknown[][];

beforeEach(() => {
  printed = [];
  vi.spyOn(console, 'error').mockImplementation((...values: unknown[]) => void printed.push(values));
});
afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

async function answerOf(listener: (req: IncomingMessage, res: ServerResponse) => void): Promise<[number, string]> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await signedDelivery({ secret }).send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return [response.status, await response.text()];
}

describe('paymentWebhook on node:http', () => {
  it('gives the handler the request and the response', async () => {
    const answer = await answerOf(
      paymentWebhook({ secret }, ({ reference }, { req, res }) => {
        res.writeHead(201).end(`${reference} by ${req.method}`);
      }),
    );
    expect(answer).toEqual([201, 'order-42 by POST']);
  });

  it('keeps the response from the handler with `idempotency`', async () => {
    const handler = vi.fn();
    expect(await answerOf(paymentWebhook({ secret, idempotency: memoryStore() }, handler))).toEqual([200, '{"received":true}']);
    expect(Object.keys(handler.mock.calls[0]![1] as object).sort()).toEqual(['req', 'signal']);
  });

  it('answers 500 to what the handler throws, and gives it to onError with the request and the response (G01)', async () => {
    const onError = vi.fn();
    const answer = await answerOf(paymentWebhook({ secret, onError }, () => Promise.reject(mine)));
    expect(answer).toEqual([500, '{"error":"handler_failed"}']);
    const host = {
      req: expect.objectContaining({ method: 'POST' }) as unknown,
      res: expect.objectContaining({ statusCode: 500 }) as unknown,
    };
    expect(onError).toHaveBeenCalledExactlyOnceWith(mine, host);
    expect(printed).toEqual([]);
  });

  it('prints what the handler throws where there is no onError (G01)', async () => {
    expect(await answerOf(paymentWebhook({ secret }, () => Promise.reject(mine)))).toEqual([500, '{"error":"handler_failed"}']);
    expect(printed).toEqual([['[paylink] the webhook handler failed:', mine]]);
  });

  it.each([
    [
      'throws',
      () => {
        throw mine;
      },
    ],
    ['rejects', () => Promise.reject(mine)],
  ])('prints what onError itself %s (N09)', async (_how, onError) => {
    const answer = await answerOf(paymentWebhook({ secret, onError }, () => Promise.reject(new Error('of the handler'))));
    expect(answer).toEqual([500, '{"error":"handler_failed"}']);
    await vi.waitFor(() => expect(printed).toEqual([['[paylink] the webhook handler failed:', mine]]));
  });

  it('answers 500 and lives on where the console throws (N15)', async () => {
    const tried = vi.fn(() => {
      throw new Error('the log is full');
    });
    vi.mocked(console.error).mockImplementation(tried);
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    expect(await answerOf(paymentWebhook({ secret }, () => Promise.reject(mine)))).toEqual([500, '{"error":"handler_failed"}']);
    // Node tells of a rejection when the microtasks of its turn are done.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(tried).toHaveBeenCalledOnce();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('answers a WebhookError of the handler with its code, without onError', async () => {
    const onError = vi.fn();
    const error = new WebhookError('unknown_order', { status: 503 });
    expect(await answerOf(paymentWebhook({ secret, onError }, () => Promise.reject(error)))).toEqual([
      503,
      '{"error":"unknown_order"}',
    ]);
    expect(onError).not.toHaveBeenCalled();
  });
});
