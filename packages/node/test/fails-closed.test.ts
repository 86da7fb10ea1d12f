import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it, onTestFinished } from 'vitest';

it('K05 verifies no text that a listener made of the body, even if the listener calls the verifier', async () => {
  const verifier = createVerifier({ secret: TEST_SECRET });
  const server = createServer((req, res) => {
    void text(req).then(async (body) => {
      const verified = verifier.verify(body as unknown as Uint8Array, req.headers);
      res.end(await verified.then(String, (error: unknown) => (error as { code: string }).code));
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await signedDelivery().send(`http://127.0.0.1:${port}/`);
  expect(await response.text()).toBe('body_consumed');
});
