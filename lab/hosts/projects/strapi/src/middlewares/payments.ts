import { paymentWebhook } from '@paylink/koa';
import type { Core } from '@strapi/strapi';
import { handlers, options } from '../orders';

const webhook = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export default (): Core.MiddlewareHandler => (ctx, next) =>
  ctx.path === '/webhooks/payments' ? webhook(ctx, next) : next();
