import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import fastify from 'fastify';
import { expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const delivery = signedDelivery({ secret });

it('acknowledges nothing that a store says is done without having run the handler', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const credit = vi.fn();
  const idempotency = { isDone: async () => false, run: async () => 'done' as const };
  const app = fastify();
  await app.register(paymentWebhook({ url: '/', secret, idempotency }, credit));
  const { statusCode, body } = await app.inject(delivery.toInject('/'));
  expect([statusCode, body]).toEqual([503, '{"error":"store_unavailable"}']);
  expect(credit).not.toHaveBeenCalled();
});

it('verifies no text that a content type parser made of the body, also where a route calls the verifier itself (K05)', async () => {
  const verifier = createVerifier({ secret });
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  app.post('/', async (request) =>
    verifier.verify(request.body as Uint8Array, request.headers).then(String, (error: unknown) => (error as { code: string }).code),
  );
  expect((await app.inject(delivery.toInject('/'))).body).toBe('body_consumed');
});
