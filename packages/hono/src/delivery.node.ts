import type { IncomingMessage } from 'node:http';
import { deliveryOf as deliveryOfIncoming } from '@paylink/node';
import type { Context } from 'hono';
import * as web from './delivery.web.js';

const BODY_CONSUMED_HINT =
  'Put the webhook above middleware that reads the body with c.req.json(), text(), parseBody() ' +
  'or a validator. Middleware may read c.req.arrayBuffer() or c.req.raw.clone().';

/** Reads from Node's message on Hono's Node server, which would otherwise build a Request. */
export function deliveryOf(c: Context): ReturnType<typeof web.deliveryOf> {
  const incoming = incomingOf(c);
  if (incoming === undefined) return web.deliveryOf(c);
  const delivery = deliveryOfIncoming(incoming, BODY_CONSUMED_HINT);
  return {
    method: delivery.method,
    header: (name) => delivery.header(name),
    // After a refusal, Hono's server reads on for a moment and then closes the connection.
    closes: incoming.httpVersionMajor < 2,
    async body(limits) {
      // Middleware that clones, limits or keeps the body reads the message and leaves a Request.
      const isKept = c.req.bodyCache.arrayBuffer !== undefined;
      const isRead = incoming.readableDidRead || incoming.readableEnded;
      if (!isKept && (!isRead || c.req.raw.bodyUsed)) return delivery.body(limits);
      const left = await web.deliveryOf(c).body(limits);
      // A Request may hold none, or only the rest, of a message that other code has read.
      const declared = delivery.header('content-length');
      const isWhole = declared === undefined ? left.length > 0 : left.length === Number(declared);
      return isKept || isWhole ? left : delivery.body(limits);
    },
  };
}

function incomingOf({ env }: Context): IncomingMessage | undefined {
  const { incoming } = Object(env) as { readonly incoming?: IncomingMessage };
  return Array.isArray(incoming?.rawHeaders) ? incoming : undefined;
}
