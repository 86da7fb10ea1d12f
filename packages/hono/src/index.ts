import { deliveryOf } from '#delivery';
import { createGate, createReceiver } from '@paylink/core';
import type { EventTypes, GateOptions, Handlers, NoEvents } from '@paylink/core';
import type { ReceiverOptions, SchemasOf } from '@paylink/core';
import { toResponse } from '@paylink/fetch';
import type { Context, Env, ExecutionContext, Handler, MiddlewareHandler } from 'hono';

export { WebhookError, webhookEvent, type WebhookEvent } from '@paylink/core';

// oxlint-disable-next-line typescript/no-explicit-any -- Hono's own middleware fits every app by it
type AnyEnv = any;

/** The Hono request that handlers receive. Handlers cannot reply through it. */
export interface HonoHost<E extends Env = AnyEnv> {
  readonly req: Context<E>['req'];
  readonly env: Omit<Context<E>['env'], 'outgoing'> & { readonly outgoing?: never };
  readonly var: Context<E>['var'];
  /** Undefined on Node and on other hosts that do not pass one. */
  readonly executionCtx: ExecutionContext | undefined;
}

/**
 * Creates a handler that verifies a notification, runs your handler and replies.
 *
 * @throws ConfigurationError that names the option or the handler, and the problem
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents, E extends Env = AnyEnv>(
  options: ReceiverOptions<SchemasOf<Events>, HonoHost<E>>,
  handlers: Handlers<SchemasOf<Events>, HonoHost<E>>,
): Handler<E> {
  const receiver = createReceiver<SchemasOf<Events>, HonoHost<E>>(options, handlers);
  return async (c) => {
    const delivery = deliveryOf(c);
    return toResponse(delivery, await receiver.receive(delivery, hostOf(c)));
  };
}

/**
 * Creates middleware that verifies a notification and calls `next`. It answers rejected requests
 * and, unless `unrecognized` is `'pass'`, events of unrecognized kinds. Your code answers the rest.
 *
 * @throws ConfigurationError that names the option and the problem
 */
export function paymentGate<const Events extends EventTypes = NoEvents, E extends Env = AnyEnv>(
  options: GateOptions<SchemasOf<Events>, HonoHost<E>>,
): MiddlewareHandler<E> {
  const gate = createGate<SchemasOf<Events>, HonoHost<E>>(options);
  return async (c, next) => {
    const delivery = deliveryOf(c);
    const reply = await gate.admit(delivery, hostOf(c), c);
    if (reply !== undefined) return toResponse(delivery, reply);
    await next();
  };
}

function hostOf<E extends Env>(c: Context<E>): HonoHost<E> {
  // Hono on Node keeps Node's response here, and has no execution context.
  const isOnNode = 'outgoing' in Object(c.env);
  const env = (isOnNode ? { ...c.env, outgoing: undefined } : c.env) as HonoHost<E>['env'];
  const executionCtx = isOnNode ? undefined : executionContextOf(c);
  return { req: c.req, env, var: c.var, executionCtx };
}

/** Returns the execution context of a Worker. On other hosts Hono's getter throws. */
function executionContextOf(c: Context): ExecutionContext | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined;
  }
}
