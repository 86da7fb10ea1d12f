import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ConfigurationError,
  createReceiver,
  type ConfirmedPayment,
  type EventSchemas,
  type GateEvent,
  type GateOptions,
} from '@paylink/core';
import type { HostContext, NoEvents, ReceiverHandlers, ReceiverOptions, WebhookEvent } from '@paylink/core';
import { deliveryOf, writeReply } from '@paylink/node';
import type { Request, Response } from 'express';

/** What a handler is given of Express. With `idempotency` no `res`: nothing may be sent before the commit. */
export type ExpressHost<Scope = never> = HostContext<Scope, { readonly req: Request }, { readonly res: Response }>;

/** Fits every version of Express: its parameters are what they all build on. */
export type ExpressMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** Verifies, and lets the next handler have the event. */
export interface ExpressGate<Event> extends ExpressMiddleware {
  /** The event that this gate proved for the request. @throws ConfigurationError when this gate is not in front of it. */
  event(req: IncomingMessage): Event;
}

const MEND =
  "Register the webhook above the parser: app.post('/webhooks/payments', paymentWebhook(…)) before app.use(express.json()). " +
  'Or let the parser keep the bytes: express.json({ verify: (req, res, buf) => { req.rawBody = buf; } })';

/**
 * Makes middleware that verifies a notification before any code of yours runs. With handlers it runs them and replies, and
 * what they throw goes to `next`; without, it is a gate in front of the next handler.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const E extends EventSchemas = NoEvents,
  P extends ConfirmedPayment = never,
  S extends object = never,
>(options: ReceiverOptions<E, P, S, ExpressHost<S>>, handlers: ReceiverHandlers<E, P, S, ExpressHost<S>>): ExpressMiddleware;
export function paymentWebhook<const E extends EventSchemas = NoEvents, const Pass extends 'pass' | undefined = undefined>(
  options: GateOptions<E, ExpressHost, Pass>,
): ExpressGate<GateEvent<E, Pass>>;
export function paymentWebhook(options: unknown, ...handlers: unknown[]): unknown {
  return handlers.length === 0 ? createGate(options as never) : createHandling(options as never, handlers[0] as never);
}

type AnyOptions = ReceiverOptions<NoEvents, ConfirmedPayment, object, object>;

function createHandling(
  options: AnyOptions,
  handlers: ReceiverHandlers<NoEvents, ConfirmedPayment, object, object>,
): ExpressMiddleware {
  const receiver = createReceiver(options, handlers);
  return (req, res, next) => {
    const host = options.idempotency === undefined ? { req, res } : { req };
    receiver
      .receive(deliveryOf(req, MEND), host)
      .then((reply) => {
        writeReply(req, res, reply);
      })
      .catch(next);
  };
}

const events = new WeakMap<IncomingMessage, WebhookEvent>();

function createGate(options: GateOptions<NoEvents, object, 'pass'>): ExpressGate<WebhookEvent> {
  const receiver = createReceiver(options);
  const proven = new WeakMap<IncomingMessage, WebhookEvent>();
  const gate: ExpressMiddleware = (req, res, next) => {
    receiver.admit(deliveryOf(req, MEND), { req, res }).then(({ event, reply }) => {
      if (reply !== undefined) return writeReply(req, res, reply);
      proven.set(req, event);
      events.set(req, event);
      next();
    }, next);
  };
  return Object.assign(gate, { event: (req: IncomingMessage) => eventOf(proven, req) });
}

/** The event that a gate proved for the request. @throws ConfigurationError when no gate is in front: it fails closed. */
export function webhookEvent(req: IncomingMessage): WebhookEvent {
  return eventOf(events, req);
}

function eventOf(from: WeakMap<IncomingMessage, WebhookEvent>, req: IncomingMessage): WebhookEvent {
  const event = from.get(req);
  if (event === undefined)
    throw new ConfigurationError(
      'webhookEvent',
      'found no verified event: put paymentWebhook({ secret }) in front of this handler',
    );
  return event;
}
