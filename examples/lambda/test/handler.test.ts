import { beforeAll, describe, expect, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET, type SignedDelivery } from '@paylink/testing';

let lambda: typeof import('../src/handler.js');

beforeAll(async () => {
  vi.stubEnv('WEBHOOK_SECRET', TEST_SECRET);
  lambda = await import('../src/handler.js');
  vi.unstubAllEnvs();
});

/** The delivery as a function URL hands it over. */
function eventOf({ headers, rawBody }: SignedDelivery) {
  const body = rawBody.toString('base64');
  return { version: '2.0', headers, requestContext: { http: { method: 'POST' } }, body, isBase64Encoded: true };
}

describe('the example on Lambda', () => {
  it('credits a genuine delivery once, however often it comes', async () => {
    const event = eventOf(signedDelivery({ secret: TEST_SECRET, reference: 'order-42' }));
    for (let time = 0; time < 3; time++) {
      expect(await lambda.handler(event)).toMatchObject({ statusCode: 200, body: '{"received":true}' });
    }
    expect(lambda.paidOrders).toEqual(['order-42']);
  });

  it('refuses a forged delivery', async () => {
    const event = eventOf(signedDelivery({ secret: 'a-secret-of-nobody', reference: 'order-43' }));
    expect(await lambda.handler(event)).toMatchObject({ statusCode: 401, body: '{"error":"invalid_signature"}' });
    expect(lambda.paidOrders).not.toContain('order-43');
  });
});
