import { Controller, Get, Module, Param } from '@nestjs/common';
import { PaymentWebhookModule } from '@paylink/nest';
import { payments } from './payments';

@Controller()
export class PaymentsController {
  // The page that the customer returns to. First check that the order belongs to this customer.
  @Get('payments/:reference')
  async read(@Param('reference') reference: string): Promise<{ status: string }> {
    const { status } = await payments.settle(reference);
    return { status };
  }
}

// In front of the parsers, and without the global prefix.
const webhook = PaymentWebhookModule.forRootAsync({
  useFactory: () => ({
    url: '/webhooks/payments',
    secret: process.env['WEBHOOK_SECRET'],
    handlers: payments.receive,
  }),
});

@Module({ imports: [webhook], controllers: [PaymentsController] })
export class PaymentsModule {}
