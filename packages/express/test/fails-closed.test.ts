import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import express from 'express';
import request from 'supertest';
import { it } from 'vitest';

const secret = TEST_SECRET;
const delivery = signedDelivery({ secret });

it('verifies no text that express.text made of the body, even if a route calls the verifier', async () => {
  const verifier = createVerifier({ secret });
  const app = express().post('/', express.text({ type: '*/*' }), async (req, res) => {
    const outcome = await verifier
      .verify(req.body as Uint8Array, req.headers)
      .catch((error: unknown) => (error as { code: string }).code);
    res.json(outcome);
  });
  await request(app)
    .post('/')
    .set(delivery.headers)
    .send(delivery.body)
    .expect(200, '"body_consumed"');
});
