import type { IncomingMessage } from 'node:http';
import { createReceiver, webhookEvent as eventOf } from '@paylink/core';
import type { EventTypes, GateOptions, Handlers, NoEvents } from '@paylink/core';
import type { ReceiverOptions, SchemasOf, WebhookEvent } from '@paylink/core';
import { createGate, deliveryOf, writeReply } from '@paylink/node';
import type { Context, DefaultState, Middleware } from 'koa';

/** The Koa request, as handlers get it. */
export interface KoaHost {
  readonly req: IncomingMessage;
  readonly state: DefaultState;
  /** The path's parameters, if a router matched the path. */
  readonly params: Readonly<Record<string, string>>;
}

const BODY_CONSUMED_HINT =
  'Put the webhook above the parser: app.use(router.routes()) with paymentWebhook(…) before ' +
  'app.use(bodyParser()), or exclude its path from the parser.';

/**
 * Makes Koa middleware that verifies a notification before any of your code runs. With handlers,
 * the middleware runs them and replies. Without handlers, it is a gate
 * in front of the next middleware.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, KoaHost>,
  handlers: Handlers<SchemasOf<Events>, KoaHost>,
): Middleware;
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: GateOptions<SchemasOf<Events>, KoaHost>,
): Middleware;
export function paymentWebhook(options: unknown, ...handlers: unknown[]): Middleware {
  return handlers.length === 0
    ? gating(options as never)
    : handling(options as never, handlers[0] as never);
}

function handling(
  options: ReceiverOptions<NoEvents, KoaHost>,
  handlers: Handlers<NoEvents, KoaHost>,
): Middleware {
  const receiver = createReceiver<NoEvents, KoaHost>(options, handlers);
  return async (ctx) => {
    const delivery = deliveryOf(ctx.req, BODY_CONSUMED_HINT);
    await writeReply(ctx.req, ctx.res, await receiver.receive(delivery, hostOf(ctx)));
  };
}

function gating(options: GateOptions<NoEvents, KoaHost>): Middleware {
  const admit = createGate<NoEvents, KoaHost>(options, BODY_CONSUMED_HINT);
  return async (ctx, next) => {
    const reply = await admit(ctx.req, hostOf(ctx));
    if (reply !== undefined) {
      await writeReply(ctx.req, ctx.res, reply);
      return;
    }
    // A parser behind the gate would wait for bytes that the gate has read.
    (ctx as { disableBodyParser?: boolean }).disableBodyParser = true;
    await next();
  };
}

function hostOf(ctx: Context): KoaHost {
  const { params = {} } = ctx as { params?: Record<string, string> };
  return { req: ctx.req, state: ctx.state, params };
}

/**
 * Returns the event that a gate proved.
 *
 * @throws ConfigurationError if the route has no gate
 */
export function webhookEvent(ctx: Pick<Context, 'req'>): WebhookEvent {
  return eventOf(ctx.req);
}
