import { createServer } from 'node:http';
import { paymentWebhook } from '@paylink/node';
import { checkout, payments } from './payments.ts';

const webhook = paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive);

/** Answers all other requests. */
async function answer(method: string, path: string): Promise<[status: number, body: object]> {
  if (method === 'POST' && path === '/orders') return [201, await checkout(15_000)];
  const reference = /^\/orders\/([\w-]+)$/.exec(path)?.[1];
  if (reference !== undefined) {
    const { status } = await payments.settle(reference);
    return [200, { status }];
  }
  return [404, { error: 'not_found' }];
}

export const app = createServer(async (req, res) => {
  if (req.url === '/webhooks/payments') return webhook(req, res);
  try {
    const [status, body] = await answer(req.method ?? '', req.url ?? '');
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  } catch (error) {
    console.error(error);
    res.writeHead(500).end();
  }
});
