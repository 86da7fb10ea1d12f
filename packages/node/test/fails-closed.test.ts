import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
let server: Server;

afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

async function deliverTo(listener: RequestListener, delivery = signedDelivery({ secret })): Promise<[number, string]> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await fetch(delivery.toRequest(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  return [response.status, await response.text()];
}

it('credits a genuine delivery', async () => {
  const credit = vi.fn();
  expect(await deliverTo(paymentWebhook({ secret }, credit))).toEqual([200, '{"received":true}']);
  expect(credit).toHaveBeenCalledOnce();
});

it('refuses a forged delivery', async () => {
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const credit = vi.fn();
  const forged = signedDelivery({ secret: 'a-secret-of-a-stranger' });
  expect(await deliverTo(paymentWebhook({ secret }, credit), forged)).toEqual([401, '{"error":"invalid_signature"}']);
  expect(credit).not.toHaveBeenCalled();
});

it('acknowledges nothing that a store says is done without having run the handler', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const credit = vi.fn();
  const idempotency = { isDone: async () => false, run: async () => 'done' as const };
  expect(await deliverTo(paymentWebhook({ secret, idempotency }, credit))).toEqual([503, '{"error":"store_unavailable"}']);
  expect(credit).not.toHaveBeenCalled();
});

it('verifies no text that a listener made of the body, also where it calls the verifier itself (K05)', async () => {
  const verifier = createVerifier({ secret });
  const reply = await deliverTo((req, res) => {
    void text(req).then(async (body) => {
      const verified = verifier.verify(body as unknown as Uint8Array, req.headers);
      res.end(await verified.then(String, (error: unknown) => (error as { code: string }).code));
    });
  });
  expect(reply).toEqual([200, 'body_consumed']);
});
