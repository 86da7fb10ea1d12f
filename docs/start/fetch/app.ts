import { paymentWebhook } from '@paylink/fetch';
import { checkout, payments } from './payments.ts';

const webhook = paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive);

export async function app(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/webhooks/payments') return webhook(request);
  if (request.method === 'POST' && pathname === '/orders')
    return Response.json(await checkout(15_000), { status: 201 });
  const reference = /^\/orders\/([\w-]+)$/.exec(pathname)?.[1];
  if (reference !== undefined) {
    const { status } = await payments.settle(reference);
    return Response.json({ status });
  }
  return Response.json({ error: 'not_found' }, { status: 404 });
}
