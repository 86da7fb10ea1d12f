/** A gate in front of a whole application, and the application's own parsers behind it. */
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { paymentWebhook } from '@paylink/express';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

test.each([
  ['Express 5', express],
  ['Express 4', express4],
])('%s: the handler gets the event of a gate in front of every parser', async (_, version) => {
  const gate = paymentWebhook({ secret: TEST_SECRET });
  const app = version()
    .use('/webhooks', gate)
    .use(version.json(), version.urlencoded({ extended: false }), version.text(), version.raw({ type: '*/*' }))
    .post('/webhooks/payments', (req, res) => void res.json({ reference: gate.event(req).reference }))
    .post('/other', (req, res) => void res.json(req.body));
  const server = createServer(app as RequestListener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const rawBody of [undefined, `{"reference":"order-42","note":"${'a'.repeat(60_000)}"}`]) {
    const answer = await signedDelivery(rawBody === undefined ? {} : { rawBody }).send(`${origin}/webhooks/payments`);
    expect([answer.status, await answer.json()]).toEqual([200, { reference: 'order-42' }]);
  }
  const headers = { 'content-type': 'application/json' };
  const other = await fetch(`${origin}/other`, { method: 'POST', headers, body: '{"parsed":true}' });
  expect(await other.json()).toEqual({ parsed: true });
});
