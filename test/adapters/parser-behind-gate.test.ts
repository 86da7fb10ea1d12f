/** A gate in front of a whole application, and the application's own parsers behind it. */
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { bodyParser } from '@koa/bodyparser';
import { paymentWebhook, webhookEvent } from '@paylink/express';
import { paymentWebhook as koaWebhook, webhookEvent as koaEvent } from '@paylink/koa';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import express from 'express';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';

function onExpress(version: typeof express): RequestListener {
  const gate = paymentWebhook({ secret: TEST_SECRET });
  return version()
    .use('/webhooks', gate)
    .use(
      version.json(),
      version.urlencoded({ extended: false }),
      version.text(),
      version.raw({ type: '*/*' }),
    )
    .post(
      '/webhooks/payments',
      (req, res) => void res.json({ reference: webhookEvent(req).reference }),
    )
    .post('/other', (req, res) => void res.json(req.body)) as RequestListener;
}

function onKoa(): RequestListener {
  const gate = koaWebhook({ secret: TEST_SECRET });
  const app = new Koa();
  app.use((ctx, next): Promise<unknown> =>
    ctx.path.startsWith('/webhooks') ? (gate(ctx, next) as Promise<unknown>) : next(),
  );
  app.use(bodyParser());
  app.use((ctx) => {
    const parsed: unknown = ctx.request.body;
    ctx.body = ctx.path === '/other' ? parsed : { reference: koaEvent(ctx).reference };
  });
  const listener = app.callback();
  return (req, res) => void listener(req, res);
}

test.each([
  ['Express 5', () => onExpress(express)],
  ['Express 4', () => onExpress(createRequire(import.meta.url)('express4') as typeof express)],
  ['Koa', onKoa],
])('%s gives the handler the event of a gate in front of every parser', async (_, listener) => {
  const server = createServer(listener()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const rawBody of [undefined, `{"reference":"order-42","note":"${'a'.repeat(60_000)}"}`]) {
    const answer = await signedDelivery(rawBody === undefined ? {} : { rawBody }).send(
      `${origin}/webhooks/payments`,
    );
    expect([answer.status, await answer.json()]).toEqual([200, { reference: 'order-42' }]);
  }
  const headers = { 'content-type': 'application/json' };
  const other = await fetch(`${origin}/other`, {
    method: 'POST',
    headers,
    body: '{"parsed":true}',
  });
  expect(await other.json()).toEqual({ parsed: true });
});
