import type { IncomingMessage } from 'node:http';
import { deliveryOf as deliveryOfRequest } from '@paylink/fetch';
import { deliveryOf as deliveryOfIncoming } from '@paylink/node';
import type { Context } from 'hono';
import { executionContextOf as executionContextOfWeb } from './delivery.web.js';

const BODY_CONSUMED_HINT =
  'Put the webhook above middleware that reads the body by c.req.json(), text(), parseBody() or a ' +
  'validator. Middleware may read c.req.raw.clone().';

/** Reads from Node's message on Hono's Node server, which would otherwise build a Request. */
export function deliveryOf(c: Context): ReturnType<typeof deliveryOfRequest> {
  const incoming = incomingOf(c);
  if (incoming === undefined) return deliveryOfRequest(c.req.raw);
  const delivery = deliveryOfIncoming(incoming, BODY_CONSUMED_HINT);
  return {
    method: delivery.method,
    header: (name) => delivery.header(name),
    // After a refusal, Hono's server reads on for a moment and then closes the connection.
    closes: incoming.httpVersionMajor < 2,
    async body(limits) {
      // Middleware that clones or limits the body reads the message and leaves an unread Request.
      const isLeft = incoming.readableDidRead && !c.req.raw.bodyUsed;
      const left = isLeft ? await deliveryOfRequest(c.req.raw).body(limits) : undefined;
      return left !== undefined && left.length > 0 ? left : delivery.body(limits);
    },
  };
}

/** Returns undefined, because Node has no execution context. */
export function executionContextOf(c: Context): ReturnType<typeof executionContextOfWeb> {
  return incomingOf(c) === undefined ? executionContextOfWeb(c) : undefined;
}

function incomingOf({ env }: Context): IncomingMessage | undefined {
  const { incoming } = Object(env) as { readonly incoming?: IncomingMessage };
  return Array.isArray(incoming?.rawHeaders) ? incoming : undefined;
}
