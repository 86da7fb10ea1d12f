import { env } from 'cloudflare:workers';
import { paymentWebhook } from '@paylink/fetch';
import { checkout, paymentsOfRequest } from './payments.ts';

const webhook = paymentWebhook({ secret: env.WEBHOOK_SECRET }, (event, context) =>
  paymentsOfRequest().receive(event, context),
);

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks/payments') return webhook(request);
    if (request.method === 'POST' && pathname === '/checkout')
      return Response.json(await checkout(15_000), { status: 201 });
    // The page that the customer returns to. First check that the order belongs to this customer.
    const reference = /^\/orders\/([\w-]+)$/.exec(pathname)?.[1];
    if (reference === undefined) return new Response(null, { status: 404 });
    const { status } = await paymentsOfRequest().settle(reference);
    return Response.json({ status });
  },

  /** Credits the orders whose notification was lost. */
  async scheduled(): Promise<void> {
    // A run may make 1,000 queries to D1 (50 on the Free plan), and makes up to 3 for each order.
    // Without random(), no run would reach the newest orders of a long list.
    const { results } = await env.DB.prepare(
      `SELECT reference FROM orders WHERE paid_at IS NULL
        AND created_at > datetime('now', '-30 days') ORDER BY random() LIMIT 300`,
    ).all<{ reference: string }>();
    const references = results.map(({ reference }) => reference);
    const report = await paymentsOfRequest().reconcile(references, { timeLimit: 50_000 });
    console.log('reconcile', JSON.stringify(report));
    if (report.errors.count + report.notAsked.count > 0) throw new Error('orders are left');
  },
};
