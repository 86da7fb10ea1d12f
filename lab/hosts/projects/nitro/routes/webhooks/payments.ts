import { paymentWebhook } from '@paylink/fetch';
import { defineHandler } from 'nitro/h3';
import { handlers, options } from '../../lib/orders';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export default defineHandler(({ req }) => handle(req));
