import type { HttpContext } from '@adonisjs/core/http';
import type { NextFn } from '@adonisjs/core/types/http';
import { paymentWebhook } from '@paylink/node';
import { handlers, options } from '../orders.js';

const webhook = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export default class PaymentWebhookMiddleware {
  handle({ request, response }: HttpContext, next: NextFn): Promise<void> {
    if (request.url() !== '/webhooks/payments') return next();
    return webhook(request.request, response.response);
  }
}
