import type { IncomingMessage } from 'node:http';
import type { BodyLimits, WebhookError } from '@paylink/core';
import { deliveryOf as deliveryOfRequest, type FetchDelivery } from '@paylink/fetch';
import { deliveryOf as deliveryOfIncoming, isClaimed } from '@paylink/node';
import type { Context } from 'hono';

const BODY_CONSUMED_HINT =
  'Put the webhook above middleware that reads the body by c.req.json(), text(), parseBody() or a validator; middleware may ' +
  'read c.req.raw.clone().';

/** Reads from the message of node:http on Hono's server for Node, which would otherwise build a whole Request. */
export function deliveryOf(c: Context): FetchDelivery {
  const { incoming } = (c.env ?? {}) as { readonly incoming?: IncomingMessage };
  if (!Array.isArray(incoming?.rawHeaders)) return deliveryOfRequest(c.req.raw);
  const delivery = deliveryOfIncoming(incoming, BODY_CONSUMED_HINT);
  const claimed = isClaimed(incoming);
  return {
    method: delivery.method,
    header: (name) => delivery.header(name),
    // After a refusal Hono's server reads the rest for a moment, then ends the connection.
    closes: incoming.httpVersionMajor < 2,
    body(limits) {
      const reading = delivery.body(limits);
      return claimed ? reading : reading.catch((error: unknown) => bodyLeft(c, incoming, limits, error));
    },
  };
}

/** The body of the Request that middleware has left when it read the message, by a clone or a body limit. */
async function bodyLeft({ req }: Context, incoming: IncomingMessage, limits: BodyLimits, error: unknown): Promise<Uint8Array> {
  if ((error as WebhookError).code !== 'body_consumed' || req.raw.bodyUsed) throw error;
  const body = await deliveryOfRequest(req.raw).body(limits);
  // One that was sent empty has been read by nothing.
  if (body.length === 0 && incoming.readableDidRead) throw error;
  return body;
}
