/** The hosts whose own types do not compile without `skipLibCheck` on every TypeScript. */
import { Controller, Module, Post, Req, UseGuards } from '@nestjs/common';
import * as hono from '@paylink/hono';
import { paymentGate, PaymentWebhookModule, webhookEvent, type WebhookEvent } from '@paylink/nest';
import * as next from '@paylink/next';
import { paymentWebhookApi } from '@paylink/next/pages';
import { Hono } from 'hono';
import { z } from 'zod';

const secret = process.env['WEBHOOK_SECRET'];
const events = { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) };
const credit = async (_reference: string): Promise<void> => undefined;

interface ShopEnv {
  readonly Bindings: { readonly WEBHOOK_SECRET: string; readonly outgoing: object };
  readonly Variables: { readonly shop: string };
}

export const onHono = hono.paymentWebhook(
  { secret, events },
  {
    'payment.succeeded': ({ reference }, { req, signal }) =>
      credit(`${reference}${req.path}${signal.aborted}`),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
    unrecognized: ({ kind }) => credit(kind),
  },
);
export const honoGate = hono.paymentGate({ secret, events, unrecognized: 'pass' });
export const app = new Hono<ShopEnv>()
  .post(
    '/webhooks/payments',
    hono.paymentWebhook<typeof events, ShopEnv>(
      { secret: ({ env }) => ({ secret: env.WEBHOOK_SECRET, tenant: null }) },
      ({ reference }, context) => credit(reference + context.var.shop),
    ),
  )
  .post('/gated', honoGate, (c) => c.json(hono.webhookEvent(c).reference));
hono.paymentWebhook({ secret }, (_event, { env }) => {
  // A handler gets no response of Node.
  const outgoing: undefined = env.outgoing;
  return outgoing;
});

export const POST = next.paymentWebhook(
  { secret, events },
  {
    'payment.succeeded': async ({ reference }, { params }) =>
      credit(`${reference}${String((await params)?.['id'])}`),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
  },
);

export const route = paymentWebhookApi(
  { secret, events },
  {
    'payment.succeeded': ({ reference }, { req }) =>
      credit(`${reference}${String(req.query['id'])}`),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
  },
);

class Orders {
  credit = credit;
}

export const webhook = PaymentWebhookModule.forRootAsync({
  inject: [Orders],
  useFactory: (orders: Orders) => ({
    url: '/webhooks/payments',
    secret,
    events,
    handlers: {
      'payment.succeeded': ({ reference }, { req }) => orders.credit(`${reference}${req.url}`),
      'payment.refunded': ({ payload }) => orders.credit(payload.refund_id),
    },
  }),
});
export const simple = PaymentWebhookModule.forRootAsync({
  useFactory: async () => ({
    url: '/',
    secret,
    handlers: (event: WebhookEvent) => credit(event.reference),
  }),
});
export const nestGate = paymentGate({ secret, events });

@Controller()
export class Webhooks {
  @Post('gated')
  @UseGuards(nestGate)
  receive(@Req() req: object) {
    return webhookEvent(req).reference;
  }
}

@Module({ imports: [webhook, simple], controllers: [Webhooks] })
// oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest
export class Shop {}
