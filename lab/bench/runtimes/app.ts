/** One contestant on Hono, for any runtime with the Fetch API. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { paymentWebhook } from '@paylink/hono';
import { Hono, type Context, type Handler } from 'hono';
import { SECRET, URL_PATH } from '../secret.js';

/** The bundler replaces this name. */
declare const CONTESTANT: 'bare' | 'byHand' | 'least' | 'paylink';

const bare: Handler = async (c) => {
  await c.req.arrayBuffer();
  return c.json({ received: true });
};

const byHand: Handler = async (c) => {
  const text = await c.req.text();
  const expected = Buffer.from(createHmac('sha256', SECRET).update(text).digest('hex'));
  const given = Buffer.from(c.req.header('x-service-signature') ?? '');
  if (expected.length !== given.length || !timingSafeEqual(expected, given))
    return c.json({ error: 'invalid_signature' }, 401);
  const { reference } = JSON.parse(text) as { reference: string };
  if (c.req.header('x-service-event') === 'payment.succeeded') credit(reference);
  return c.json({ received: true });
};

const paylink = paymentWebhook(
  { secret: SECRET },
  { 'payment.succeeded': ({ reference }) => credit(reference) },
);

/**
 * The hand-written check with a body limit and a time limit: the upper bound of a safe receiver.
 */
const least: Handler = async (c) => {
  const bytes = await (isBounded(c)
    ? readDeclared(c.req.raw, 10_000)
    : readWithin(c.req.raw.body!, 65_536, 10_000));
  const expected = Buffer.from(createHmac('sha256', SECRET).update(bytes).digest('hex'));
  const given = Buffer.from(c.req.header('x-service-signature') ?? '');
  if (expected.length !== given.length || !timingSafeEqual(expected, given))
    return c.json({ error: 'invalid_signature' }, 401);
  const { reference } = JSON.parse(decoder.decode(bytes)) as { reference: string };
  if (c.req.header('x-service-event') === 'payment.succeeded') credit(reference);
  return c.json({ received: true });
};

const decoder = new TextDecoder();

async function readWithin(
  body: ReadableStream<Uint8Array>,
  limit: number,
  milliseconds: number,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const timer = setTimeout(() => void reader.cancel(), milliseconds);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    if ((length += value.length) > limit) throw new Error('too large');
  }
  clearTimeout(timer);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

interface BunServer {
  requestIP?(request: Request): unknown;
}

/**
 * Returns true if the request came through Bun's server, which ends a body at its declared length.
 * A Request from other code does not.
 */
function isBounded({ env, req }: Context): boolean {
  return 'Bun' in globalThis && (env as BunServer).requestIP?.(req.raw) != null;
}

async function readDeclared(request: Request, milliseconds: number): Promise<Uint8Array> {
  if (!(Number(request.headers.get('content-length') ?? Infinity) <= 65_536))
    throw new Error('too large');
  const timer = setTimeout(() => undefined, milliseconds);
  const bytes = new Uint8Array(await request.arrayBuffer());
  clearTimeout(timer);
  return bytes;
}

function credit(reference: string): void {
  if (reference === '') throw new Error('no reference');
}

export const app = new Hono().post(URL_PATH, { bare, byHand, least, paylink }[CONTESTANT]);
