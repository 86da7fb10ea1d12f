import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const toRequest = (): Request => signedDelivery({ secret }).toRequest('http://localhost/api/webhooks/payments');

it('acknowledges nothing that a store says is done without having run the handler', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const credit = vi.fn();
  const idempotency = { isDone: async () => false, run: async () => 'done' as const };
  const response = await paymentWebhook({ secret, idempotency }, credit)(toRequest());
  expect([response.status, await response.json()]).toEqual([503, { error: 'store_unavailable' }]);
  expect(credit).not.toHaveBeenCalled();
});

it('verifies no text that a route handler made of the body, also where it calls the verifier itself (K05)', async () => {
  const verifier = createVerifier({ secret });
  const POST = async (request: Request): Promise<Response> => {
    const verified = verifier.verify((await request.text()) as unknown as Uint8Array, request.headers);
    return new Response(await verified.then(String, (error: unknown) => (error as { code: string }).code));
  };
  expect(await (await POST(toRequest())).text()).toBe('body_consumed');
});
