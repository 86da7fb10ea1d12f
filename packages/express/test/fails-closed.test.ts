import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import express from 'express';
import request from 'supertest';
import { expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const delivery = signedDelivery({ secret });

it('acknowledges nothing that a store says is done without having run the handler', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const credit = vi.fn();
  const idempotency = { isDone: async () => false, run: async () => 'done' as const };
  const app = express().post('/', paymentWebhook({ secret, idempotency }, credit));
  await request(app).post('/').set(delivery.headers).send(delivery.body).expect(503, { error: 'store_unavailable' });
  expect(credit).not.toHaveBeenCalled();
});

it('verifies no text that express.text made of the body, also where a route calls the verifier itself (K05)', async () => {
  const verifier = createVerifier({ secret });
  const app = express().post('/', express.text({ type: '*/*' }), async (req, res) => {
    const outcome = await verifier
      .verify(req.body as Uint8Array, req.headers)
      .catch((error: unknown) => (error as { code: string }).code);
    res.json(outcome);
  });
  await request(app).post('/').set(delivery.headers).send(delivery.body).expect(200, '"body_consumed"');
});
