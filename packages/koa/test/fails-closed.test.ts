import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { afterEach, expect, it } from 'vitest';

const secret = TEST_SECRET;
let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function deliverTo(...middleware: Middleware[]): Promise<[number, string]> {
  const app = new Koa();
  for (const one of middleware) app.use(one);
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = signedDelivery({ secret }).toRequest(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  const response = await fetch(request);
  return [response.status, await response.text()];
}

it('verifies no text that koa-bodyparser kept as the raw body, even if middleware calls the verifier', async () => {
  const verifier = createVerifier({ secret });
  const reply = await deliverTo(bodyParser(), async (ctx) => {
    const verified = verifier.verify(ctx.request.rawBody as Uint8Array, ctx.request.headers);
    ctx.body = await verified.then(String, (error: unknown) => (error as { code: string }).code);
  });
  expect(reply).toEqual([200, 'body_consumed']);
});
