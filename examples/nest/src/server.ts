import 'reflect-metadata';
import {
  Controller,
  Inject,
  Injectable,
  Module,
  Post,
  type INestApplication,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createClient } from '@paylink/client';
import {
  PaymentEvent,
  PaymentWebhook,
  PaymentWebhookGuard,
  type WebhookEvent,
} from '@paylink/nest';
import { createPayments, memoryStore, type PaymentClient, type Payments } from '@paylink/payments';

/** Stands for the merchant's database. */
@Injectable()
export class Orders {
  readonly paid: string[] = [];

  /** Stands for the UPDATE of the order, and returns the number of rows that it changed. */
  credit(reference: string): number {
    return this.paid.push(reference);
  }
}

export const PAYMENTS = Symbol('payments');

/** Says how an order is credited. The return page and the schedule inject these payments too. */
const payments = {
  provide: PAYMENTS,
  inject: [Orders, 'PAYLINK'],
  useFactory: (orders: Orders, client: PaymentClient): Payments =>
    createPayments({
      client,
      // In production a store that lasts, such as postgresStore(pool). This one forgets.
      store: memoryStore(),
      credit: ({ reference }) => orders.credit(reference),
    }),
};

const paylink = {
  provide: 'PAYLINK',
  useFactory: (): PaymentClient => {
    const { PAYLINK_BASE_URL: baseUrl, PAYLINK_API_KEY: apiKey } = process.env;
    return createClient({ baseUrl, apiKey });
  },
};

@Injectable()
class PaymentsGuard extends PaymentWebhookGuard {
  constructor(@Inject('WEBHOOK_SECRET') secret: string | undefined) {
    super({ secret });
  }
}

@Controller('webhooks')
class WebhooksController {
  constructor(@Inject(PAYMENTS) private readonly payments: Payments) {}

  @Post('payments')
  @PaymentWebhook(PaymentsGuard)
  async receive(@PaymentEvent() event: WebhookEvent): Promise<{ readonly received: true }> {
    await this.payments.receive(event);
    return { received: true };
  }
}

@Module({
  controllers: [WebhooksController],
  providers: [
    Orders,
    payments,
    paylink,
    { provide: 'WEBHOOK_SECRET', useFactory: () => process.env['WEBHOOK_SECRET'] },
  ],
})
export class AppModule {}

/** The guard needs the signed bytes: `rawBody: true`. */
export function createApp(): Promise<INestApplication> {
  return NestFactory.create(AppModule, { rawBody: true, logger: ['warn', 'error'] });
}

if (process.argv[1] === import.meta.filename) {
  const app = await createApp();
  await app.listen(3000);
  console.log('webhook at', `${await app.getUrl()}/webhooks/payments`);
}
