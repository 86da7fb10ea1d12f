import 'reflect-metadata';
import { Controller, Inject, Injectable, Module, Post, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PaymentEvent, PaymentWebhook, PaymentWebhookGuard, type WebhookEvent } from '@paylink/nest';

/** Stands for the merchant's database. */
@Injectable()
export class Orders {
  readonly paid = new Map<string, Date>();

  /** Credits once: a notification may come twice, and then the order is paid already. */
  credit(reference: string): void {
    if (!this.paid.has(reference)) this.paid.set(reference, new Date());
  }
}

@Injectable()
class PaymentsGuard extends PaymentWebhookGuard {
  constructor(@Inject('WEBHOOK_SECRET') secret: string | undefined) {
    super({ secret });
  }
}

@Controller('webhooks')
class WebhooksController {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  @Post('payments')
  @PaymentWebhook(PaymentsGuard)
  receive(@PaymentEvent() { reference }: WebhookEvent): { readonly received: true } {
    this.orders.credit(reference);
    return { received: true };
  }
}

@Module({
  controllers: [WebhooksController],
  providers: [Orders, { provide: 'WEBHOOK_SECRET', useFactory: () => process.env['WEBHOOK_SECRET'] }],
})
export class AppModule {}

/** The guard needs the bytes that were signed: `rawBody: true`. */
export function createApp(): Promise<INestApplication> {
  return NestFactory.create(AppModule, { rawBody: true, logger: ['warn', 'error'] });
}

if (process.argv[1] === import.meta.filename) {
  const app = await createApp();
  await app.listen(3000);
  console.log('webhook at', `${await app.getUrl()}/webhooks/payments`);
}
