/** What merchants write, for the types that an editor shows of it, in hover.test.ts. Checked by `pnpm types`, never run. */
import { createClient, type Payment } from '@paylink/client';
import { createReceiver } from '@paylink/core';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetch from '@paylink/fetch';
import * as hono from '@paylink/hono';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import * as next from '@paylink/next';
import * as node from '@paylink/node';
import { postgresStore } from '@paylink/postgres';
import type { Pool } from 'pg';
import { z } from 'zod';

declare const pool: Pool;
const secret = process.env['WEBHOOK_SECRET'];
const confirm = createClient({ baseUrl: '', apiKey: '' });
const idempotency = postgresStore(pool);
const events = { 'payment.refunded': z.object({ reference: z.string(), refund_id: z.string() }) };
const handler = (): void => undefined;

express.paymentWebhook(
  { secret, confirm, idempotency, events },
  {
    'payment.succeeded': (_event, { tx, payment }) => tx.query('', [payment.amount]),
    'payment.refunded': (event, context) => context.tx.query('', [event.payload.refund_id]),
  },
);
fastify.paymentWebhook({ url: '', secret, confirm, idempotency, events }, handler);
fetch.paymentWebhook({ secret, confirm, idempotency, events }, handler);
hono.paymentWebhook({ secret, confirm, idempotency, events }, handler);
koa.paymentWebhook({ secret, confirm, idempotency, events }, handler);
lambda.paymentWebhook({ secret, confirm, idempotency, events }, handler);
next.paymentWebhook({ secret, confirm, idempotency, events }, handler);
node.paymentWebhook({ secret, confirm, idempotency, events }, handler);

export const gate = express.paymentWebhook({ secret, events });

// Types that are given by hand: the schemas, or the payloads.
interface Refunded {
  readonly reference: string;
  readonly refund_id: string;
}
interface Tx {
  readonly tx: Pool;
}
declare const scope: { readonly store: never; readonly key: never };
express.paymentWebhook<typeof events>({ secret, events }, ({ payload }) => payload);
express.paymentWebhook<{ 'payment.refunded': Refunded }, Payment, Tx>(
  { secret, confirm, events, idempotency: scope },
  { 'payment.succeeded': handler, 'payment.refunded': ({ payload }, { tx }) => [payload.refund_id, tx] },
);
express.paymentWebhook<typeof events, 'pass'>({ secret, events, unrecognized: 'pass' });

// Kinds on a condition.
declare const refunds: boolean;
express.paymentWebhook({ secret, events: refunds ? { ...events } : {} }, (event) =>
  event.type === 'payment.refunded' ? event.payload.refund_id : event.payload.reference,
);
express.paymentWebhook({ secret, events: { ...(refunds && events) } }, (event) =>
  event.type === 'payment.refunded' ? event.payload.refund_id : event.payload.reference,
);
createReceiver({ secret, events: refunds ? events : {} }, handler);
export const maybe = express.paymentWebhook({ secret, events: refunds ? events : {} });

// @ts-expect-error what is no schema
express.paymentWebhook({ secret, events: { 'payment.refunded': 42 } }, handler);
// @ts-expect-error a schema that may be missing
express.paymentWebhook({ secret, events: { 'payment.refunded': refunds ? events['payment.refunded'] : undefined } }, handler);
// @ts-expect-error a schema of another payload
express.paymentWebhook<{ 'payment.refunded': { readonly other: string } }>({ secret, events }, handler);
// @ts-expect-error a handler's own types configure no payment
express.paymentWebhook({ secret }, (_event, { payment }: { readonly payment: Payment }) => payment);
// @ts-expect-error nor a store
express.paymentWebhook({ secret }, (_event, { tx }: Tx) => tx);
// @ts-expect-error a kind without a schema
express.paymentWebhook({ secret, events }, { 'payment.succeeded': handler, 'payment.failed': handler });
