import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const { rawBody, headers } = signedDelivery({ secret });
const event = { httpMethod: 'POST', headers, body: rawBody.toString(), isBase64Encoded: false };

it('acknowledges nothing that a store says is done without having run the handler', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const credit = vi.fn();
  const idempotency = { isDone: async () => false, run: async () => 'done' as const };
  const result = await paymentWebhook({ secret, idempotency }, credit)(event);
  expect([result.statusCode, result.body]).toEqual([503, '{"error":"store_unavailable"}']);
  expect(credit).not.toHaveBeenCalled();
});

it('K05 verifies no text of an event, also where a function calls the verifier itself', async () => {
  const text = event.body as unknown as Uint8Array;
  await expect(createVerifier({ secret }).verify(text, event.headers)).rejects.toMatchObject({ code: 'body_consumed' });
});
