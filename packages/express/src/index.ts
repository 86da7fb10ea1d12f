import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver, type ConfirmedPayment, type EventTypes, type GateEvent, type GateOptions } from '@paylink/core';
import type { HostContext, NoEvents, ReceiverHandlers, ReceiverOptions, SchemasOf } from '@paylink/core';
import { createGate, deliveryOf, writeReply } from '@paylink/node';
import type { Request, Response } from 'express';

export { webhookEvent } from '@paylink/node';

/** What a handler is given of Express. With `idempotency` no `res`: nothing may be sent before the commit, nor by `req.res`. */
export type ExpressHost<Scope = never> = HostContext<Scope, { readonly req: Request }, { readonly res: Response }>;

/** Fits every version of Express: its parameters are what they all build on. */
export type ExpressMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** Verifies, and lets the next handler have the event. */
export interface ExpressGate<Event> extends ExpressMiddleware {
  /** The event that this gate proved for the request. @throws ConfigurationError when this gate is not in front of it. */
  event(req: IncomingMessage): Event;
}

const BODY_CONSUMED_HINT =
  "Register the webhook above the parser: app.post('/webhooks/payments', paymentWebhook(…)) before app.use(express.json()). " +
  'Or let the parser keep the bytes: express.json({ verify: (req, res, buf) => { req.rawBody = buf; } })';

/**
 * Makes middleware that verifies a notification before any code of yours runs. With handlers it runs them and replies, and
 * what they throw goes to `next`; without, it is a gate in front of the next handler.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  options: ReceiverOptions<SchemasOf<Events>, Payment, Scope, ExpressHost<Scope>>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, ExpressHost<Scope>>,
): ExpressMiddleware;
export function paymentWebhook<const Events extends EventTypes = NoEvents, const Pass extends 'pass' | undefined = undefined>(
  options: GateOptions<SchemasOf<Events>, ExpressHost, Pass>,
): ExpressGate<GateEvent<SchemasOf<Events>, Pass>>;
export function paymentWebhook(options: unknown, ...handlers: unknown[]): unknown {
  return handlers.length === 0 ? gating(options as never) : handling(options as never, handlers[0] as never);
}

type Host = ExpressHost<object>;
type Options = ReceiverOptions<NoEvents, ConfirmedPayment, object, Host>;

function handling(options: Options, handlers: ReceiverHandlers<NoEvents, ConfirmedPayment, object, Host>): ExpressMiddleware {
  const receiver = createReceiver(options, handlers);
  return (req, res, next) => {
    const { statusCode } = res;
    const replied = receiver.receive(deliveryOf(req, BODY_CONSUMED_HINT), { req }, { res }).then((reply) => {
      writeReply(req, res, reply, statusCode);
    });
    replied.catch(next);
  };
}

function gating(options: GateOptions<NoEvents, ExpressHost>): ExpressGate<unknown> {
  const { admit, event, isUnused, warnUnanswered } = createGate(options, BODY_CONSUMED_HINT);
  const gate: ExpressMiddleware = (req, res, next) => {
    admit(req, { req, res } as ExpressHost).then((reply) => {
      if (reply !== undefined) {
        writeReply(req, res, reply);
        return;
      }
      if (isUnused()) {
        res.once('finish', () => {
          if (res.statusCode === 404 && isUnused()) warnUnanswered();
        });
      }
      // The parsers of Express 4 would wait for bytes that the gate has read; those of Express 5 see that the request has ended.
      (req as { _body?: boolean })._body = true;
      next();
    }, next);
  };
  return Object.assign(gate, { event });
}
