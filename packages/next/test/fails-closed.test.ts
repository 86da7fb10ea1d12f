import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it } from 'vitest';

const secret = TEST_SECRET;
const toRequest = (): Request =>
  signedDelivery({ secret }).toRequest('http://localhost/api/webhooks/payments');

it('verifies no text that a route handler made of the body, even if it calls the verifier', async () => {
  const verifier = createVerifier({ secret });
  const POST = async (request: Request): Promise<Response> => {
    const verified = verifier.verify(
      (await request.text()) as unknown as Uint8Array,
      request.headers,
    );
    return new Response(
      await verified.then(String, (error: unknown) => (error as { code: string }).code),
    );
  };
  expect(await (await POST(toRequest())).text()).toBe('body_consumed');
});
