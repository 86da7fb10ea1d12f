import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { SignedDelivery } from '@paylink/testing';
import { PaymentsModule } from './payment-webhook';

export async function startHost() {
  const app = await NestFactory.create(PaymentsModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/webhooks/payments`;
  return {
    deliver: async (delivery: SignedDelivery) => (await delivery.send(url)).status,
    close: () => app.close(),
  };
}
