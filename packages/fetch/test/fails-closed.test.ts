import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it } from 'vitest';

it('K05 verifies no text of a request, even if a route calls the verifier', async () => {
  const request = signedDelivery().toRequest('http://localhost/webhooks/payments');
  const text = (await request.text()) as unknown as Uint8Array;
  const verifier = createVerifier({ secret: TEST_SECRET });
  await expect(verifier.verify(text, request.headers)).rejects.toMatchObject({
    code: 'body_consumed',
  });
});
