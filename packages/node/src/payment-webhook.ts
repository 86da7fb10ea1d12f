import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver, type PaymentWebhook, type Receiver } from '@paylink/core';
import { deliveryOf } from './delivery.js';
import { writeReply } from './write-reply.js';

/** The node:http request that handlers receive. */
export interface NodeHost {
  readonly req: IncomingMessage;
}

type NodeListener = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/**
 * Creates a request listener for `http.createServer` or the HTTP/2 compatibility API. The
 * listener's promise resolves when the reply is written.
 *
 * @function
 */
export const paymentWebhook: PaymentWebhook<NodeHost, NodeListener> = (options, handlers) => {
  const receiver = createReceiver(options, handlers);
  return (req, res) => respond(receiver, req, res, { req });
};

/** The means to answer, which Express keeps on its request. */
type Answerable = IncomingMessage & { res?: unknown; next?: unknown };

/** Stands in for `req.res` while a handler runs, because Express's own code reads these fields. */
const STAND_IN = Object.freeze({ statusCode: 200, headersSent: false, getHeader: ignore });

/**
 * Receives a request and writes the reply. Handlers cannot reply through the request.
 *
 * @param hint the fix to log if other code read the body first
 */
export async function respond<Host>(
  receiver: Receiver<Host>,
  req: Answerable,
  res: ServerResponse,
  host: Host,
  hint?: string,
): Promise<void> {
  const { res: own, next } = req;
  if (own !== undefined) {
    req.res = STAND_IN;
    req.next = ignore;
  }
  const reply = await receiver.receive(deliveryOf(req, hint), host);
  if (own !== undefined) {
    req.res = own;
    req.next = next;
  }
  await writeReply(req, res, reply);
}

function ignore(): undefined {
  return undefined;
}
