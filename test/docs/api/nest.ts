import { Controller, Post, Req, UseGuards } from '@nestjs/common';
import { paymentGate, PaymentWebhookModule, webhookEvent } from '@paylink/nest';
import { payments } from './shop.js';

const secret = process.env['WEBHOOK_SECRET'];

// #region PaymentWebhookModule
// One of the imports of your module.
export const webhook = PaymentWebhookModule.forRootAsync({
  useFactory: () => ({ url: '/webhooks/payments', secret, handlers: payments.receive }),
});
// #endregion

// #region paymentGate
@Controller('webhooks')
export class Webhooks {
  @Post('payments')
  @UseGuards(paymentGate({ secret }))
  async receive(@Req() req: object) {
    await payments.receive(webhookEvent(req));
  }
}
// #endregion

// #region webhookEvent
export const referenceOf = (req: object): string => webhookEvent(req).reference;
// #endregion
