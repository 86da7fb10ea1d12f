import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { createApp, Orders } from '../src/server.js';

let app: INestApplication;
let url: string;

beforeAll(async () => {
  vi.stubEnv('WEBHOOK_SECRET', TEST_SECRET);
  app = await createApp();
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  url = `http://127.0.0.1:${port}/webhooks/payments`;
});

afterAll(async () => {
  await app.close();
  vi.unstubAllEnvs();
});

describe('the example on NestJS', () => {
  it('credits a genuine delivery once, however often it comes', async () => {
    const { paid } = app.get(Orders);
    const marks: (Date | undefined)[] = [];
    const delivery = signedDelivery({ secret: TEST_SECRET, reference: 'order-42' });
    for (let time = 0; time < 3; time++) {
      const response = await delivery.send(url);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ received: true });
      marks.push(paid.get('order-42'));
    }
    expect([...paid.keys()]).toEqual(['order-42']);
    expect(new Set(marks).size).toBe(1);
  });

  it('refuses a forged delivery', async () => {
    const response = await signedDelivery({ secret: 'a-secret-of-nobody', reference: 'order-43' }).send(url);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: 'invalid_signature' });
    expect(app.get(Orders).paid.has('order-43')).toBe(false);
  });
});
