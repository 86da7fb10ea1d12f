import { paymentWebhook } from '@paylink/next';
import { creditOrder } from '../../../../lib/orders';

export const runtime = 'edge';

export const POST = paymentWebhook(
  { secret: process.env.WEBHOOK_SECRET },
  {
    'payment.succeeded': async ({ reference }) => {
      await creditOrder(reference);
    },
  },
);
