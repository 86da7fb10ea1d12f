/** One contestant on Hono, for any runtime of the Fetch API. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { paymentWebhook } from '@paylink/hono';
import { Hono, type Handler } from 'hono';
import { SECRET, URL_PATH } from '../secret.js';

/** Put in its place by the bundler. */
declare const CONTESTANT: 'bare' | 'byHand' | 'paylink';

const bare: Handler = async (c) => {
  await c.req.arrayBuffer();
  return c.json({ received: true });
};

const byHand: Handler = async (c) => {
  const text = await c.req.text();
  const expected = Buffer.from(createHmac('sha256', SECRET).update(text).digest('hex'));
  const given = Buffer.from(c.req.header('x-service-signature') ?? '');
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return c.json({ error: 'invalid_signature' }, 401);
  const { reference } = JSON.parse(text) as { reference: string };
  if (c.req.header('x-service-event') === 'payment.succeeded') credit(reference);
  return c.json({ received: true });
};

const paylink = paymentWebhook({ secret: SECRET }, { 'payment.succeeded': ({ reference }) => credit(reference) });

function credit(reference: string): void {
  if (reference === '') throw new Error('no reference');
}

export const app = new Hono().post(URL_PATH, { bare, byHand, paylink }[CONTESTANT]);
