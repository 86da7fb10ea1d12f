import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { signedDelivery } from '@paylink/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApp, Orders } from '../src/server.js';

let emulator: Emulator;
let app: INestApplication;
let url: string;

beforeAll(async () => {
  emulator = await startEmulator();
  vi.stubEnv('WEBHOOK_SECRET', emulator.webhookSecret);
  vi.stubEnv('PAYLINK_BASE_URL', emulator.baseUrl);
  vi.stubEnv('PAYLINK_API_KEY', emulator.apiKey);
  app = await createApp();
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  url = `http://127.0.0.1:${port}/webhooks/payments`;
});

afterAll(async () => {
  await app.close();
  await emulator.close();
  vi.unstubAllEnvs();
});

async function deliver(
  reference: string,
  secret = emulator.webhookSecret,
): Promise<[number, unknown]> {
  const response = await signedDelivery({ secret, reference }).send(url);
  return [response.status, await response.json()];
}

describe('the example on NestJS', () => {
  it('credits a genuine delivery once, however often it comes', async () => {
    await emulator.createLink({ amount: 15_000, reference: 'order-42' });
    await emulator.pay('order-42');
    for (let time = 0; time < 3; time++)
      expect(await deliver('order-42')).toEqual([200, { received: true }]);
    expect(app.get(Orders).paid).toEqual(['order-42']);
  });

  it('refuses a forged delivery', async () => {
    await emulator.createLink({ amount: 15_000, reference: 'order-43' });
    await emulator.pay('order-43');
    expect(await deliver('order-43', 'a-secret-of-nobody')).toEqual([
      401,
      { error: 'invalid_signature' },
    ]);
    expect(app.get(Orders).paid).not.toContain('order-43');
  });

  it('asks for a pending payment to be sent again', async () => {
    await emulator.createLink({ amount: 15_000, reference: 'order-44' });
    expect(await deliver('order-44')).toEqual([503, { error: 'payment_pending' }]);
    expect(app.get(Orders).paid).not.toContain('order-44');
  });
});
