/**
 * A merchant's code on every host, with an event kind of the merchant's own. The merchant installs
 * the adapters alone, and exports what they return.
 */
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetch from '@paylink/fetch';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import * as node from '@paylink/node';
import { z } from 'zod';

const secret = process.env['WEBHOOK_SECRET'];
const events = { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) };
const credit = async (_reference: string): Promise<void> => undefined;

export const onExpress = express.paymentWebhook(
  { secret, events, onError: (error, { req }) => [error, req.url] },
  {
    'payment.succeeded': async ({ reference, tenant }, { req, signal }) => {
      const merchant: string | null = tenant;
      signal.throwIfAborted();
      await credit(`${merchant} ${reference} ${String(req.params['merchant'])}`);
      if (reference === '') throw new express.WebhookError('unknown_order', { status: 503 });
    },
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
    unrecognized: ({ kind }) => credit(kind),
  },
);
export const expressGate = express.paymentGate({ secret, events, unrecognized: 'pass' });
export const expressEvent = (req: object): express.WebhookEvent => express.webhookEvent(req);
express.paymentWebhook(
  { secret: async ({ req }) => ({ secret: '', tenant: String(req.params['merchant']) }) },
  // @ts-expect-error a handler gets no response
  (_event, { req }) => req.res,
);
// @ts-expect-error nor `next`
express.paymentWebhook({ secret }, (_event, { req }) => req.next);

export const onFastify = fastify.paymentWebhook(
  { url: '/webhooks/payments', secret, events, routeOptions: { logLevel: 'warn' } },
  {
    'payment.succeeded': ({ reference }, { request }) => credit(reference + request.id),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
  },
);

export const onKoa = koa.paymentWebhook(
  { secret, events },
  {
    'payment.succeeded': ({ reference }, { req, params }) =>
      credit(`${reference}${req.url}${params['id']}`),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
  },
);
export const koaGate = koa.paymentGate({ secret, events });
export const koaEvent = koa.webhookEvent;

export const onNode = node.paymentWebhook(
  { secret, events },
  {
    'payment.succeeded': ({ reference }, { req }) => credit(`${reference}${req.url}`),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
  },
);

export const onFetch = fetch.paymentWebhook(
  { secret, events },
  {
    'payment.succeeded': ({ reference }, { request }) => credit(reference + request.url),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
  },
);

export const handler = lambda.paymentWebhook(
  { secret, events, handlerTimeout: 5_000 },
  {
    'payment.succeeded': ({ reference }, { event }) => credit(`${reference}${event.rawPath}`),
    'payment.refunded': ({ payload }) => credit(payload.refund_id),
  },
);

// One function for all kinds, such as payments.receive.
const receive = (event: lambda.WebhookEvent): Promise<void> => credit(event.reference);
export const received = [
  express.paymentWebhook({ secret }, receive),
  fastify.paymentWebhook({ url: '/', secret }, receive),
  koa.paymentWebhook({ secret }, receive),
  node.paymentWebhook({ secret }, receive),
  fetch.paymentWebhook({ secret }, receive),
  lambda.paymentWebhook({ secret }, receive),
];

// @ts-expect-error a kind without a schema
koa.paymentWebhook({ secret }, { 'payment.succeeded': receive, 'payment.failed': receive });
// @ts-expect-error a secret function that does not say whose secret it is
koa.paymentWebhook({ secret: () => '' }, receive);
