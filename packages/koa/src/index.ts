import type { IncomingMessage } from 'node:http';
import { createReceiver, type ConfirmedPayment, type EventTypes, type GateEvent, type GateOptions } from '@paylink/core';
import type { HostContext, NoEvents, ReceiverHandlers, ReceiverOptions, Reply, SchemasOf, WebhookEvent } from '@paylink/core';
import { createGate, deliveryOf, endBegun, webhookEvent as eventOfRequest, writeReply } from '@paylink/node';
import type { Context, Middleware } from 'koa';

/**
 * What a handler is given of Koa. With `idempotency` no `ctx`: nothing may be sent before the commit. `secret`, `tenant` and `key`
 * are given it always.
 */
export type KoaHost<Scope = never> = HostContext<Scope, { readonly req: IncomingMessage }, { readonly ctx: Context }>;

/** Verifies, and lets the next middleware have the event. */
export type KoaGate<Event> = Middleware & {
  /** The event that this gate proved for the request. @throws ConfigurationError when this gate is not in front of it. */
  event(ctx: Pick<Context, 'req'>): Event;
};

const BODY_CONSUMED_HINT =
  'Put the webhook above the parser: app.use(router.routes()) with paymentWebhook(…) before app.use(bodyParser()), or leave its ' +
  'path out of the parser.';

/**
 * Makes Koa middleware that verifies a notification before any code of yours runs. With handlers it runs them and replies, and
 * what they throw is Koa's; without, it is a gate in front of the next middleware.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  options: ReceiverOptions<SchemasOf<Events>, Payment, Scope, KoaHost>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, KoaHost<Scope>>,
): Middleware;
export function paymentWebhook<const Events extends EventTypes = NoEvents, const Pass extends 'pass' | undefined = undefined>(
  options: GateOptions<SchemasOf<Events>, KoaHost, Pass>,
): KoaGate<GateEvent<SchemasOf<Events>, Pass>>;
export function paymentWebhook(options: unknown, ...handlers: unknown[]): unknown {
  return handlers.length === 0 ? gating(options as never) : handling(options as never, handlers[0] as never);
}

type Options = ReceiverOptions<NoEvents, ConfirmedPayment, object, KoaHost<object>>;

function handling(options: Options, handlers: ReceiverHandlers<NoEvents, ConfirmedPayment, object, KoaHost<object>>): Middleware {
  const receiver = createReceiver(options, handlers);
  return async (ctx) => {
    const before = answerOf(ctx);
    const reply = await receiver
      .receive(deliveryOf(ctx.req, BODY_CONSUMED_HINT), { req: ctx.req }, { ctx })
      .catch((error: unknown) => {
        // Koa leaves a response open that was begun by ctx.res.
        endBegun(ctx.res);
        throw error;
      });
    // A handler that set a status or a body, or took the response over, has answered. A refusal is always sent.
    if (reply.status !== 200 || answerOf(ctx).every((part, index) => part === before[index])) respond(ctx, reply);
  };
}

/** What a handler changes that sends its own answer. Koa's own mark too, since a status can be set to the 404 that it has. */
function answerOf({ respond, body, status, response, headerSent }: Context): unknown[] {
  return [respond, body, status, headerSent, (response as { _explicitStatus?: boolean })._explicitStatus];
}

function gating(options: GateOptions<NoEvents, KoaHost>): KoaGate<unknown> {
  const { admit, event, isUnused, warnUnanswered } = createGate(options, BODY_CONSUMED_HINT);
  const gate: Middleware = async (ctx, next) => {
    const reply = await admit(ctx.req, { req: ctx.req, ctx });
    if (reply !== undefined) {
      respond(ctx, reply);
      return;
    }
    // A parser behind the gate would wait for bytes that the gate has read.
    (ctx as { disableBodyParser?: boolean }).disableBodyParser = true;
    await next().catch(refuseSuccess);
    if (ctx.status === 404 && isUnused()) warnUnanswered();
  };
  return Object.assign(gate, { event: (ctx: Pick<Context, 'req'>) => event(ctx.req) });
}

/** Koa answers with the status that an error carries: 200 of an HTTP client's error would acknowledge a failed credit. */
function refuseSuccess(error: unknown): never {
  const { status, statusCode } = error as { readonly status?: unknown; readonly statusCode?: unknown };
  if (![status, statusCode].some((carried) => typeof carried === 'number' && carried < 400)) throw error;
  throw new Error('the middleware behind paymentWebhook failed', { cause: error });
}

/** By the bare response, since Koa cannot end a connection in good order; middleware around us still sees the status. */
function respond(ctx: Context, reply: Reply): void {
  ctx.respond = false;
  writeReply(ctx.req, ctx.res, reply);
}

/** The event that a gate proved for the request. @throws ConfigurationError when no gate is in front: it fails closed. */
export function webhookEvent(ctx: Pick<Context, 'req'>): WebhookEvent {
  return eventOfRequest(ctx.req);
}
