import { paymentWebhook } from '@paylink/express';
import type { Payments } from '@paylink/payments';

const { WEBHOOK_SECRET, WEBHOOK_SECRET_OLD } = process.env;

export const webhook = paymentWebhook(
  {
    secret:
      WEBHOOK_SECRET_OLD === undefined ? WEBHOOK_SECRET : [WEBHOOK_SECRET, WEBHOOK_SECRET_OLD],
    observe: ({ secretIndex }) => {
      if (secretIndex === 1) console.log('a notification still uses the old secret');
    },
  },
  payments.receive,
);

declare const payments: Payments;
