/**
 * Merchants' code for the editor types in hover.test.ts. `pnpm types` checks it, and nothing runs
 * it.
 */
import { createClient } from '@paylink/client';
import { createReceiver } from '@paylink/core';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetch from '@paylink/fetch';
import * as hono from '@paylink/hono';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import * as next from '@paylink/next';
import * as node from '@paylink/node';
import { createPayments } from '@paylink/payments';
import { z } from 'zod';

const secret = process.env['WEBHOOK_SECRET'];
const events = { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) };
const handler = (): void => undefined;

export const payments = createPayments({
  client: createClient({ baseUrl: '', apiKey: '' }),
  orders: {
    find: async (reference, { tenant }) => ({
      ...{ reference, amount: 500, currency: 'XOF', paid: tenant === null },
    }),
    credit: async ({ reference, amount, currency }) => [reference, amount, currency].length,
  },
});
express.paymentWebhook({ secret, events }, payments.receive);

express.paymentWebhook(
  { secret, events },
  {
    'payment.succeeded': (_event, { req }) => req.params,
    'payment.refunded': (event, context) => [event.payload.refund_id, context],
  },
);
fastify.paymentWebhook({ url: '', secret, events }, handler);
fetch.paymentWebhook({ secret, events }, handler);
hono.paymentWebhook({ secret, events }, handler);
koa.paymentWebhook({ secret, events }, handler);
lambda.paymentWebhook({ secret, events }, handler);
next.paymentWebhook({ secret, events }, handler);
node.paymentWebhook({ secret, events }, handler);

export const gate = express.paymentGate({ secret, events });

// Explicit types: the schemas, or the payloads.
interface Refunded {
  readonly reference: string;
  readonly refund_id: string;
}
express.paymentWebhook<typeof events>({ secret, events }, ({ payload }) => payload);
express.paymentWebhook<{ 'payment.refunded': Refunded }>(
  { secret, events },
  { 'payment.succeeded': handler, 'payment.refunded': ({ payload }) => payload.refund_id },
);
express.paymentGate<typeof events>({ secret, events, unrecognized: 'pass' });

// Conditional kinds.
declare const refunds: boolean;
express.paymentWebhook({ secret, events: refunds ? { ...events } : {} }, (event) =>
  event.type === 'payment.refunded' ? event.payload.refund_id : event.payload.reference,
);
express.paymentWebhook({ secret, events: { ...(refunds && events) } }, (event) =>
  event.type === 'payment.refunded' ? event.payload.refund_id : event.payload.reference,
);
createReceiver({ secret, events: refunds ? events : {} }, handler);
export const maybe = express.paymentGate({ secret, events: refunds ? events : {} });

// One function returns the secret and its owner.
express.paymentWebhook(
  { secret: async ({ req }) => ({ secret: '', tenant: String(req.params['merchant']) }) },
  payments.receive,
);

// @ts-expect-error a value that is no schema
express.paymentWebhook({ secret, events: { 'payment.refunded': 42 } }, handler);
const optional = refunds ? events['payment.refunded'] : undefined;
// @ts-expect-error a schema that may be missing
express.paymentWebhook({ secret, events: { 'payment.refunded': optional } }, handler);
interface OtherPayloads {
  readonly 'payment.refunded': { readonly other: string };
}
// @ts-expect-error a schema of another payload
express.paymentWebhook<OtherPayloads>({ secret, events }, handler);
// @ts-expect-error a handler gets no response
express.paymentWebhook({ secret }, (_event, { res }) => res);
// @ts-expect-error nor does it on Fastify
fastify.paymentWebhook({ url: '', secret }, (_event, { reply }) => reply);
// @ts-expect-error nor on Koa
koa.paymentWebhook({ secret }, (_event, { ctx }) => ctx);
// @ts-expect-error nor on Hono
hono.paymentWebhook({ secret }, (_event, { c }) => c);
// @ts-expect-error nor on node:http
node.paymentWebhook({ secret }, (_event, { res }) => res);
// @ts-expect-error a request that is typed
lambda.paymentWebhook({ secret }, (_event, { event }) => event.nothing);
// @ts-expect-error a request that is typed
next.paymentWebhook({ secret }, (_event, { request }) => request.nothing);
// @ts-expect-error a request that is typed
fetch.paymentWebhook({ secret }, (_event, { request }) => request.nothing);
const unknownKind = { 'payment.succeeded': handler, 'payment.failed': handler };
// @ts-expect-error a kind without a schema
express.paymentWebhook({ secret }, { ...unknownKind, 'payment.failed': handler });
// @ts-expect-error a secret function that does not say whose secret it is
express.paymentWebhook({ secret: () => '' }, handler);
// @ts-expect-error payments is no handler
express.paymentWebhook({ secret }, payments);
