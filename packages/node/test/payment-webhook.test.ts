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
    expect(Object.keys(context)).toEqual(['req']);
    expect(context).toHaveProperty('signal');
  });

  it('answers 500 if the handler throws, prints its stack, and tells onError (P13)', async () => {
    const onError = vi.fn();
    const answer = await answerOf(paymentWebhook({ secret, onError }, () => Promise.reject(mine)));
    expect(answer).toEqual([500, '{"error":"handler_failed"}']);
    const host = { req: expect.objectContaining({ method: 'POST' }) as unknown };
    expect(onError).toHaveBeenCalledExactlyOnceWith(mine, host);
    expect(printed).toEqual([LINE]);
    expect(String(printed[0]![0])).toContain(mine.stack);
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

  it('answers a WebhookError of the handler with its code', async () => {
    const handler = () => Promise.reject(new WebhookError('too_late', { status: 503 }));
    const answer = await answerOf(paymentWebhook({ secret }, handler));
    expect(answer).toEqual([503, '{"error":"too_late"}']);
    // Once, with its code.
    expect(printed).toEqual([['[paylink] 503 too_late: "order-42": too_late']]);
  });
});
