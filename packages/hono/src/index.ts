import { deliveryOf, executionContextOf } from '#delivery';
import { createGate, createReceiver } from '@paylink/core';
import { keepEvent } from '@paylink/core/internal';
import type { EventTypes, GateOptions, Handlers, NoEvents } from '@paylink/core';
import type { ReceiverOptions, SchemasOf } from '@paylink/core';
import { toResponse } from '@paylink/fetch';
import type { Context, Env, ExecutionContext, Handler, MiddlewareHandler } from 'hono';

export { webhookEvent } from '@paylink/core';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- Hono's own middleware fits every app by it
type AnyEnv = any;

/** The Hono request, as handlers get it. `executionCtx` exists on Workers. */
export interface HonoHost<E extends Env = AnyEnv> {
  readonly req: Context<E>['req'];
  readonly env: Context<E>['env'];
  readonly var: Context<E>['var'];
  readonly executionCtx: ExecutionContext | undefined;
}

/**
 * Makes a handler that verifies a notification before any of your code runs. With handlers, it runs
 * them and replies. Without handlers, it is a gate in front of the next handler.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents, E extends Env = AnyEnv>(
  options: ReceiverOptions<SchemasOf<Events>, HonoHost<E>>,
  handlers: Handlers<SchemasOf<Events>, HonoHost<E>>,
): Handler<E>;
export function paymentWebhook<const Events extends EventTypes = NoEvents, E extends Env = AnyEnv>(
  options: GateOptions<SchemasOf<Events>, HonoHost<E>>,
): MiddlewareHandler<E>;
export function paymentWebhook(options: unknown, ...handlers: unknown[]): unknown {
  return handlers.length === 0
    ? gating(options as never)
    : handling(options as never, handlers[0] as never);
}

function handling(
  options: ReceiverOptions<NoEvents, HonoHost>,
  handlers: Handlers<NoEvents, HonoHost>,
): Handler {
  const receiver = createReceiver<NoEvents, HonoHost>(options, handlers);
  return async (c) => {
    const delivery = deliveryOf(c);
    return toResponse(delivery, await receiver.receive(delivery, hostOf(c)));
  };
}

function gating(options: GateOptions<NoEvents, HonoHost>): MiddlewareHandler {
  const gate = createGate<NoEvents, HonoHost>(options);
  return async (c, next) => {
    const delivery = deliveryOf(c);
    const { event, reply } = await gate.admit(delivery, hostOf(c));
    if (reply !== undefined) return toResponse(delivery, reply);
    keepEvent(c, event);
    await next();
    return undefined;
  };
}

function hostOf(c: Context): HonoHost {
  return { req: c.req, env: c.env as unknown, var: c.var, executionCtx: executionContextOf(c) };
}
