import { paymentWebhook } from '@paylink/koa';
import type { Context, Next } from 'koa';
import { payments } from './payments';

const webhook = paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);

export async function paymentRoutes(ctx: Context, next: Next): Promise<void> {
  if (ctx.path === '/webhooks/payments') {
    await webhook(ctx, next);
    return;
  }
  // The page that the customer returns to. First check that the order belongs to this customer.
  const reference = /^\/payments\/([\w-]+)$/.exec(ctx.path)?.[1];
  if (reference === undefined || ctx.method !== 'GET') {
    await next();
    return;
  }
  const { status } = await payments.settle(reference);
  ctx.body = { status };
}
