/** Hosts that await the listener and then answer themselves, if nothing has been answered (O12). */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { H3, fromNodeHandler } from 'h3';
import { toNodeHandler } from 'h3/node';
import { createApp, createRouter, fromNodeMiddleware, toNodeListener } from 'h3-1';
import { createResponse } from 'node-mocks-http';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';
import { received } from './received.js';

const secret = TEST_SECRET;
const genuine = signedDelivery({ secret });
const forged = signedDelivery({ secret: 'a-secret-of-a-stranger' });
const logger = { warn: () => undefined, error: () => undefined };
const UNSIGNED = [401, '{"error":"invalid_signature"}'];
const RECEIVED = [200, '{"received":true}'];

const hosts: Readonly<
  Record<string, (webhook: ReturnType<typeof paymentWebhook>) => RequestListener>
> = {
  'h3 2': (webhook) => toNodeHandler(new H3().post('/', fromNodeHandler(webhook as never))),
  'h3 1': (webhook) => {
    // Its types also name the request of HTTP/2.
    const router = createRouter().post('/', fromNodeMiddleware(webhook as never));
    return toNodeListener(createApp().use(router));
  },
};

describe.each(Object.entries(hosts))('%s', { tags: 'O12' }, (_name, listenerOf) => {
  it('sends the reply of the listener to genuine and forged deliveries', async () => {
    const credit = vi.fn(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    const server = createServer(listenerOf(paymentWebhook({ secret, logger }, credit)));
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    for (const [delivery, expected] of [
      [genuine, RECEIVED],
      [forged, UNSIGNED],
    ] as const) {
      const response = await delivery.send(url);
      expect([response.status, await response.text()]).toEqual(expected);
    }
    expect(credit).toHaveBeenCalledOnce();
  });
});

describe('a mock response', () => {
  const webhook = paymentWebhook({ secret, logger }, () => undefined);

  it('has the whole reply when the listener settles, from node-mocks-http', async () => {
    for (const [delivery, expected] of [
      [genuine, RECEIVED],
      [forged, UNSIGNED],
    ] as const) {
      const res = createResponse();
      await webhook(received(delivery), res);
      expect([res.statusCode, res._getData()]).toEqual(expected);
      expect(res._isEndCalled()).toBe(true);
    }
  });

  it('has the whole reply when the listener settles, made by hand and without events', async () => {
    const written: unknown[] = [];
    const res = {
      headersSent: false,
      writeHead: (status: number) => void written.push(status),
      end: (body: string) => void written.push(body),
    };
    await webhook(received(genuine), res as unknown as ServerResponse);
    expect(written).toEqual(RECEIVED);
  });

  it('gets the 500 of a handler that throws before the listener settles', async () => {
    const onError = vi.fn();
    const failing = paymentWebhook({ secret, logger, onError }, () =>
      Promise.reject(new Error('sold')),
    );
    const res = createResponse();
    const req: IncomingMessage = received(genuine);
    await failing(req, res);
    expect([res.statusCode, res._getData()]).toEqual([500, '{"error":"handler_failed"}']);
    expect(onError).toHaveBeenCalledOnce();
  });
});
