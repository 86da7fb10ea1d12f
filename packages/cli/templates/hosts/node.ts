import type { IncomingMessage, ServerResponse } from 'node:http';
import { paymentWebhook } from '@paylink/node';
import { payments } from './payments';

const webhook = paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);

/** Answers the webhook and the return page. Returns false for all other requests. */
export async function paymentRoutes(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const [path = ''] = (req.url ?? '').split('?');
  if (path === '/webhooks/payments') {
    await webhook(req, res);
    return true;
  }
  // The page that the customer returns to. First check that the order belongs to this customer.
  const reference = /^\/payments\/([\w-]+)$/.exec(path)?.[1];
  if (reference === undefined || req.method !== 'GET') return false;
  try {
    const { status } = await payments.settle(reference);
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status }));
  } catch (error) {
    console.error(error);
    res.writeHead(503).end();
  }
  return true;
}
