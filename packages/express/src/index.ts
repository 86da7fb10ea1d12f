import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver } from '@paylink/core';
import type { EventTypes, GateOptions, Handlers, NoEvents } from '@paylink/core';
import type { ReceiverOptions, SchemasOf } from '@paylink/core';
import { createGate, deliveryOf, withoutReply, writeReply } from '@paylink/node';
import type { Request } from 'express';

export { WebhookError, webhookEvent, type WebhookEvent } from '@paylink/core';

/** The Express request, as handlers get it: without the means to answer. */
export interface ExpressHost {
  readonly req: Omit<Request, 'res' | 'next'>;
}

// Fits every version of Express: the parameters are the Node classes that all versions extend.
type ExpressHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type ExpressMiddleware = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

const BODY_CONSUMED_HINT =
  "Register the webhook above the parser: app.post('/webhooks/payments', paymentWebhook(…)) before " +
  'app.use(express.json()). Or let the parser keep the bytes: ' +
  'express.json({ verify: (req, res, buf) => { req.rawBody = buf; } })';

/**
 * Makes a route's handler that verifies a notification, runs your handler and replies.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, ExpressHost>,
  handlers: Handlers<SchemasOf<Events>, ExpressHost>,
): ExpressHandler {
  const receiver = createReceiver<SchemasOf<Events>, ExpressHost>(options, handlers);
  return async (req, res) => {
    const giveBack = withoutReply(req);
    const delivery = deliveryOf(req, BODY_CONSUMED_HINT);
    const reply = await receiver.receive(delivery, { req: req as Request });
    giveBack();
    await writeReply(req, res, reply);
  };
}

/**
 * Makes middleware that verifies a notification and calls `next`. It answers refusals and signed
 * events of other kinds, and your code answers the rest.
 *
 * @throws ConfigurationError that names the option and the fault
 */
export function paymentGate<const Events extends EventTypes = NoEvents>(
  options: GateOptions<SchemasOf<Events>, ExpressHost>,
): ExpressMiddleware {
  const admit = createGate<SchemasOf<Events>, ExpressHost>(options, BODY_CONSUMED_HINT);
  return async (req, res, next) => {
    const reply = await admit(req, { req: req as Request });
    if (reply !== undefined) return writeReply(req, res, reply);
    // The body-parser of Express 4 would wait for bytes that the gate has read, and has no public
    // flag.
    (req as { _body?: boolean })._body = true;
    next();
  };
}
