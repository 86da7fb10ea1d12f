import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver } from '@paylink/core';
import type { EventTypes, GateOptions, Handlers, NoEvents } from '@paylink/core';
import type { ReceiverOptions, SchemasOf } from '@paylink/core';
import { createGate, deliveryOf, writeReply } from '@paylink/node';
import type { Request } from 'express';

export { webhookEvent } from '@paylink/core';

/** The Express request, as handlers get it. */
export interface ExpressHost {
  readonly req: Request;
}

/** Fits every version of Express: the parameters are the Node classes that all versions extend. */
export type ExpressMiddleware = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

const BODY_CONSUMED_HINT =
  "Register the webhook above the parser: app.post('/webhooks/payments', paymentWebhook(…)) before " +
  'app.use(express.json()). Or let the parser keep the bytes: ' +
  'express.json({ verify: (req, res, buf) => { req.rawBody = buf; } })';

/**
 * Makes middleware that verifies a notification before any of your code runs. With handlers, the
 * middleware runs them and replies. Without handlers, it is a gate in front of the next handler.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, ExpressHost>,
  handlers: Handlers<SchemasOf<Events>, ExpressHost>,
): ExpressMiddleware;
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: GateOptions<SchemasOf<Events>, ExpressHost>,
): ExpressMiddleware;
export function paymentWebhook(options: unknown, ...handlers: unknown[]): ExpressMiddleware {
  const receive =
    handlers.length === 0
      ? gating(options as never)
      : handling(options as never, handlers[0] as never);
  return (req, res, next) =>
    receive(req as Request, res).then((passes) => {
      if (passes) next();
    }, next);
}

/** Replies, and resolves with false, or resolves with true to let the request pass. */
type Receive = (req: Request, res: ServerResponse) => Promise<boolean>;

function handling(
  options: ReceiverOptions<NoEvents, ExpressHost>,
  handlers: Handlers<NoEvents, ExpressHost>,
): Receive {
  const receiver = createReceiver<NoEvents, ExpressHost>(options, handlers);
  return async (req, res) => {
    const delivery = deliveryOf(req, BODY_CONSUMED_HINT);
    await writeReply(req, res, await receiver.receive(delivery, { req }));
    return false;
  };
}

function gating(options: GateOptions<NoEvents, ExpressHost>): Receive {
  const admit = createGate<NoEvents, ExpressHost>(options, BODY_CONSUMED_HINT);
  return async (req, res) => {
    const reply = await admit(req, { req });
    if (reply !== undefined) {
      await writeReply(req, res, reply);
      return false;
    }
    // The body-parser of Express 4 would wait for bytes that the gate has read, and has no public
    // flag.
    (req as { _body?: boolean })._body = true;
    return true;
  };
}
