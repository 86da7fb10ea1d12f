import 'reflect-metadata';
import { Inject, Injectable, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createClient } from '@paylink/client';
import { PaymentWebhookModule } from '@paylink/nest';
import { createPayments, memoryOrders, type PaymentClient } from '@paylink/payments';

/** In production, `orders` reads and writes your own table: docs/databases.md. */
@Injectable()
export class Shop {
  readonly #memory = memoryOrders();
  readonly add = this.#memory.add;
  /** The return page and the schedule inject these payments too. */
  readonly payments;

  constructor(@Inject('PAYLINK') client: PaymentClient) {
    this.payments = createPayments({ client, orders: this.#memory.orders });
  }
}

const paylink = {
  provide: 'PAYLINK',
  useFactory: (): PaymentClient => {
    const { PAYLINK_BASE_URL: baseUrl, PAYLINK_API_KEY: apiKey } = process.env;
    return createClient({ baseUrl, apiKey });
  },
};

@Module({ providers: [Shop, paylink], exports: [Shop] })
class ShopModule {}

const webhook = PaymentWebhookModule.forRootAsync({
  imports: [ShopModule],
  inject: [Shop],
  useFactory: ({ payments }: Shop) => ({
    url: '/webhooks/payments',
    secret: process.env['WEBHOOK_SECRET'],
    handlers: payments.receive,
  }),
});

@Module({ imports: [ShopModule, webhook] })
export class AppModule {}

export function createApp(): Promise<INestApplication> {
  return NestFactory.create(AppModule, { logger: ['warn', 'error'] });
}

if (process.argv[1] === import.meta.filename) {
  const app = await createApp();
  app.get(Shop).add({ reference: 'order-42', amount: 1_500, currency: 'XOF' });
  await app.listen(3000);
  console.log('webhook at', `${await app.getUrl()}/webhooks/payments`);
}
