import { paymentWebhook } from '@paylink/fetch';
import { createFileRoute } from '@tanstack/react-router';
import { handlers, options } from '../../orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export const Route = createFileRoute('/webhooks/payments')({
  server: { handlers: { ANY: ({ request }) => handle(request) } },
});
