import { createVerifier, memoryStore } from '@paylink/core';
import { keyedByTenant } from '@paylink/core/idempotency';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const toRequest = (): Request => signedDelivery({ secret }).toRequest('http://localhost/webhooks/payments');

it('acknowledges nothing that a store says is done without having run the handler', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const credit = vi.fn();
  const idempotency = { isDone: async () => false, run: async () => 'done' as const };
  const response = await paymentWebhook({ secret, idempotency }, credit)(toRequest());
  expect([response.status, await response.json()]).toEqual([503, { error: 'store_unavailable' }]);
  expect(credit).not.toHaveBeenCalled();
});

it('verifies no text of a request, also where a route calls the verifier itself (K05)', async () => {
  const request = toRequest();
  const text = (await request.text()) as unknown as Uint8Array;
  await expect(createVerifier({ secret }).verify(text, request.headers)).rejects.toMatchObject({ code: 'body_consumed' });
});

it('asks for `tenant` where a handler keys by it, also under a store with a key of its own', () => {
  const options = { secret: () => secret, idempotency: { store: memoryStore(), key: () => 'one' } };
  expect(() =>
    paymentWebhook(
      options,
      keyedByTenant(() => undefined),
    ),
  ).toThrow(/^tenant is missing/);
  expect(() => paymentWebhook(options, { 'payment.succeeded': keyedByTenant(() => undefined) })).toThrow(/^tenant is missing/);
  expect(() => paymentWebhook(options, () => undefined)).not.toThrow();
});
