import { startEmulator, type Emulator } from '@paylink/emulator';
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let lambda: typeof import('../src/handler.js');
let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator();
  vi.stubEnv('WEBHOOK_SECRET', emulator.webhookSecret);
  vi.stubEnv('PAYLINK_BASE_URL', emulator.baseUrl);
  vi.stubEnv('PAYLINK_API_KEY', emulator.apiKey);
  lambda = await import('../src/handler.js');
  vi.unstubAllEnvs();
});
afterAll(() => emulator.close());

/** An event of a function URL with the delivery. */
function eventOf({ headers, rawBody }: SignedDelivery) {
  const requestContext = { http: { method: 'POST' } };
  const body = rawBody.toString('base64');
  return { version: '2.0', headers, requestContext, body, isBase64Encoded: true };
}

async function order(reference: string): Promise<void> {
  lambda.add({ reference, amount: 15_000, currency: 'XOF' });
  await emulator.createLink({ amount: 15_000, reference });
}

async function paid(reference: string): Promise<void> {
  await order(reference);
  await emulator.pay(reference);
}

async function isPaid(reference: string): Promise<boolean> {
  return (await lambda.payments.explain(reference)).order?.paid === true;
}

describe('the example on Lambda', () => {
  it('credits a genuine delivery once, however often it comes', async () => {
    await paid('order-42');
    const event = eventOf(
      signedDelivery({ secret: emulator.webhookSecret, reference: 'order-42' }),
    );
    const success = { statusCode: 200, body: '{"received":true}' };
    for (let time = 0; time < 3; time++) expect(await lambda.handler(event)).toMatchObject(success);
    expect(await isPaid('order-42')).toBe(true);
  });

  it('refuses a forged delivery', async () => {
    await paid('order-43');
    const event = eventOf(signedDelivery({ secret: 'a-secret-of-nobody', reference: 'order-43' }));
    const refusal = { statusCode: 401, body: '{"error":"invalid_signature"}' };
    expect(await lambda.handler(event)).toMatchObject(refusal);
    expect(await isPaid('order-43')).toBe(false);
  });

  it('credits nothing that the service does not confirm', async () => {
    await order('order-44');
    const event = eventOf(
      signedDelivery({ secret: emulator.webhookSecret, reference: 'order-44' }),
    );
    const pending = { statusCode: 503, body: '{"error":"payment_pending"}' };
    expect(await lambda.handler(event)).toMatchObject(pending);
    expect(await isPaid('order-44')).toBe(false);
  });
});
