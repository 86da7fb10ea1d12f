import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { signedDelivery } from '@paylink/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApp, Shop } from '../src/server.js';

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

async function order(reference: string): Promise<void> {
  app.get(Shop).add({ reference, amount: 15_000, currency: 'XOF' });
  await emulator.createLink({ amount: 15_000, reference });
}

async function isPaid(reference: string): Promise<boolean> {
  return (await app.get(Shop).payments.explain(reference)).order?.paid === true;
}

async function deliver(
  reference: string,
  secret = emulator.webhookSecret,
): Promise<[number, unknown]> {
  const response = await signedDelivery({ secret, reference }).send(url);
  return [response.status, await response.json()];
}

describe('the example on NestJS', () => {
  it('credits a genuine delivery once, however often it comes', async () => {
    await order('order-42');
    await emulator.pay('order-42');
    for (let time = 0; time < 3; time++)
      expect(await deliver('order-42')).toEqual([200, { received: true }]);
    expect(await isPaid('order-42')).toBe(true);
  });

  it('refuses a forged delivery', async () => {
    await order('order-43');
    await emulator.pay('order-43');
    expect(await deliver('order-43', 'a-secret-of-nobody')).toEqual([
      401,
      { error: 'invalid_signature' },
    ]);
    expect(await isPaid('order-43')).toBe(false);
  });

  it('asks for a pending payment to be sent again', async () => {
    await order('order-44');
    expect(await deliver('order-44')).toEqual([503, { error: 'payment_pending' }]);
    expect(await isPaid('order-44')).toBe(false);
  });
});
