import { deliveryOf } from '#delivery';
import { ConfigurationError, createReceiver, errorReply, WebhookError } from '@paylink/core';
import type { ConfirmedPayment, EventTypes } from '@paylink/core';
import type { GateEvent, GateOptions, NoEvents, ReceiverHandlers, ReceiverOptions, SchemasOf, WebhookEvent } from '@paylink/core';
import { createResponder, toResponse, type FetchDelivery } from '@paylink/fetch';
import type { Context, Env, Handler, MiddlewareHandler } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';

/** What a handler is given of Hono. With `idempotency` a `c` without the means to respond: nothing may be sent before the commit. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as in Hono's own types
export interface HonoHost<E extends Env = any, Scope = never> {
  readonly c: [Scope] extends [never] ? Context<E> : Pick<Context<E>, 'req' | 'env' | 'var' | 'get' | 'executionCtx'>;
}

/** Verifies, and lets the next handler have the event. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as in Hono's own types
export interface HonoGate<Event, E extends Env = any> extends MiddlewareHandler<E> {
  /** The event that this gate proved for the request. @throws ConfigurationError when this gate is not in front of it. */
  event(c: Context): Event;
}

// On the context, since a WeakMap of contexts keeps V8's collector busy. By symbols of this file and not in its variables: what other
// code sets there cannot pass for an event.
const LATEST = Symbol('event');
const READ = Symbol('read');
/** What a handler did to `c`. */
const ANSWER = Symbol('answer');

type Notes = Record<symbol, unknown>;

/**
 * Makes a handler that verifies a notification before any code of yours runs. With handlers it runs them and replies: a handler
 * may return a Response, and what it throws goes to `app.onError`. Without handlers it is a gate in front of the next handler.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as Hono's own middleware has it, so that it fits every app
  E extends Env = any,
>(
  options: ReceiverOptions<SchemasOf<Events>, Payment, Scope, HonoHost<E, Scope>>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, HonoHost<E, Scope>>,
): Handler<E>;
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  const Pass extends 'pass' | undefined = undefined,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as Hono's own middleware has it, so that it fits every app
  E extends Env = any,
>(options: GateOptions<SchemasOf<Events>, HonoHost<E>, Pass>): HonoGate<GateEvent<SchemasOf<Events>, Pass>, E>;
export function paymentWebhook(options: unknown, ...handlers: unknown[]): unknown {
  return handlers.length === 0 ? gating(options as never) : handling(options as never, handlers[0] as never);
}

interface Host {
  readonly c: Context & { [ANSWER]?: () => Response | undefined };
}

function handling(
  options: ReceiverOptions<NoEvents, ConfirmedPayment, object, Host>,
  handlers: ReceiverHandlers<NoEvents, ConfirmedPayment, object, Host>,
): Handler {
  const respond = createResponder(options, handlers, (value, { c }) => {
    // A returned Error is thrown by core, so that `onError` sees it.
    const isOwn = value instanceof Error || (value instanceof Response && !value.ok);
    return isOwn ? value : (c[ANSWER]!() ?? value);
  });
  return async (c: Host['c']) => {
    const delivery = deliveryOf(c);
    const given = watchAnswer(c, delivery);
    c[ANSWER] = given;
    const response = await respond(delivery, { c });
    return response.status === 200 ? (given() ?? response) : response;
  };
}

/**
 * Sees what a handler does to `c` in place of returning a Response, as on hosts with a response object: Hono would not look at it. Gives
 * the answer of a handler that set one of its own, or that set a status of 400 and above.
 */
function watchAnswer(c: Context, delivery: FetchDelivery): () => Response | undefined {
  const { finalized, status } = c;
  let refusal = 0;
  c.status = seeStatus;
  return () => {
    if (c.finalized && !finalized) return c.res;
    if (refusal < 400) return undefined;
    return toResponse(delivery, errorReply({ code: 'handler_failed', status: refusal }));
  };

  function seeStatus(code: StatusCode): void {
    refusal = code;
    status(code);
  }
}

function gating(options: GateOptions<NoEvents, Host>): HonoGate<unknown> {
  const receiver = createReceiver(options);
  const own = Symbol('event');
  const gate: MiddlewareHandler = async (c, next) => {
    const delivery = deliveryOf(c);
    const { event, reply } = await receiver.admit(delivery, { c });
    if (reply !== undefined) return toResponse(delivery, reply);
    const notes = c as unknown as Notes;
    notes[own] = event;
    notes[LATEST] = event;
    await next();
    // Hono answers with the status that an error carries: 200 of an HTTP client's error would acknowledge a failed credit.
    if (c.error !== undefined && c.res.status < 400) {
      // Setting c.res copies the headers of the one before.
      c.res = undefined;
      c.res = toResponse(delivery, errorReply(new WebhookError('handler_failed')));
    }
    if (c.res.status === 404 && notes[READ] !== true) receiver.warnUnanswered();
    return undefined;
  };
  return Object.assign(gate, { event: (c: Context) => eventOf(c, own) });
}

/** The event that a gate proved for the request. @throws ConfigurationError when no gate is in front: it fails closed. */
export function webhookEvent(c: Context): WebhookEvent {
  return eventOf(c, LATEST);
}

function eventOf(c: Context, mark: symbol): WebhookEvent {
  const notes = c as unknown as Notes;
  const event = notes[mark] as WebhookEvent | undefined;
  notes[READ] = true;
  if (event !== undefined) return event;
  throw new ConfigurationError('webhookEvent', 'found no verified event: put paymentWebhook({ secret }) in front of this handler');
}
