import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import fastify from 'fastify';
import { expect, it } from 'vitest';

const secret = TEST_SECRET;
const delivery = signedDelivery({ secret });

it('verifies no text that a content type parser made of the body, even if a route calls the verifier', async () => {
  const verifier = createVerifier({ secret });
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  app.post('/', async (request) =>
    verifier
      .verify(request.body as Uint8Array, request.headers)
      .then(String, (error: unknown) => (error as { code: string }).code),
  );
  expect((await app.inject(delivery.toInject('/'))).body).toBe('body_consumed');
});
