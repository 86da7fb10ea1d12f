import type { IncomingMessage } from 'node:http';
import { createReceiver, webhookEvent as eventOf } from '@paylink/core';
import type { EventTypes, GateOptions, Handlers, NoEvents } from '@paylink/core';
import type { ReceiverOptions, SchemasOf, WebhookEvent } from '@paylink/core';
import { createGate, deliveryOf, writeReply } from '@paylink/node';
import type { Context, DefaultState, Middleware } from 'koa';

export { WebhookError, type WebhookEvent } from '@paylink/core';

/** The Koa request, as handlers get it: without the means to answer. */
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
 * Makes middleware that verifies a notification, runs your handler and replies.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, KoaHost>,
  handlers: Handlers<SchemasOf<Events>, KoaHost>,
): Middleware {
  const receiver = createReceiver<SchemasOf<Events>, KoaHost>(options, handlers);
  return async (ctx) => {
    // Middleware that does not wait for this one would let Koa answer.
    ctx.respond = false;
    const delivery = deliveryOf(ctx.req, BODY_CONSUMED_HINT);
    await writeReply(ctx.req, ctx.res, await receiver.receive(delivery, hostOf(ctx)));
  };
}

/**
 * Makes middleware that verifies a notification and calls `next`. It answers refusals and signed
 * events of other kinds, and your code answers the rest.
 *
 * @throws ConfigurationError that names the option and the fault
 */
export function paymentGate<const Events extends EventTypes = NoEvents>(
  options: GateOptions<SchemasOf<Events>, KoaHost>,
): Middleware {
  const admit = createGate<SchemasOf<Events>, KoaHost>(options, BODY_CONSUMED_HINT);
  return async (ctx, next) => {
    const reply = await admit(ctx.req, hostOf(ctx));
    if (reply !== undefined) return writeReply(ctx.req, ctx.res, reply);
    // A parser behind the gate would wait for bytes that the gate has read.
    (ctx as { disableBodyParser?: boolean }).disableBodyParser = true;
    await next();
  };
}

/** Returns the event that a gate proved. @throws ConfigurationError if the route has no gate */
export function webhookEvent(ctx: Pick<Context, 'req'>): WebhookEvent {
  return eventOf(ctx.req);
}

function hostOf(ctx: Context): KoaHost {
  const { params = {} } = ctx as { params?: Record<string, string> };
  return { req: ctx.req, state: ctx.state, params };
}
