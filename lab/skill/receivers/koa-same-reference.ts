import Koa from 'koa';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/koa';
import { createPayments, type Order, type Orders } from '@paylink/payments';

export const without = 'rule 3: a unique reference';
export const seenBy = 'testOrders';

type NewOrder = { reference: string; amount: number; currency: string };

const rows = new Map<string, Order>();

export const createOrder = ({ reference, amount, currency }: NewOrder) =>
  rows.set(reference, { reference, amount, currency, paid: false });

export const orders: Orders = {
  find: (reference) => rows.get(reference),
  credit({ reference, amount, currency }) {
    const row = rows.get(reference);
    if (row === undefined || row.paid || row.amount !== amount || row.currency !== currency)
      return 0;
    rows.set(reference, { ...row, paid: true });
    return 1;
  },
};

const client = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
export const payments = createPayments({ client, orders });

const app = new Koa();
const webhook = paymentWebhook({ secret: process.env['WEBHOOK_SECRET'] }, payments.receive);
app.use(async (ctx, next) => {
  if (ctx.path === '/webhooks/payments') await webhook(ctx, next);
  else await next();
});
app.use(async (ctx, next) => {
  const [, reference] = /^\/orders\/([^/]+)$/.exec(ctx.path) ?? [];
  if (reference === undefined) await next();
  else ctx.body = { status: (await payments.settle(reference)).status };
});
// The schedule imports this file too, without a port.
if (process.env['PORT']) app.listen(Number(process.env['PORT']));
