import type { IncomingMessage } from 'node:http';
import { createGate, createReceiver, type PaymentGate, type PaymentWebhook } from '@paylink/core';
import { deliveryOf, respond, writeReply } from '@paylink/node';
import type { Context, DefaultState, Middleware } from 'koa';

export { WebhookError, webhookEvent, type WebhookEvent } from '@paylink/core';

/** The Koa request that handlers receive. Handlers cannot reply through it. */
export interface KoaHost {
  readonly req: IncomingMessage;
  readonly state: DefaultState;
  /** The path parameters, if a router matched the path. */
  readonly params: Readonly<Record<string, string>>;
}

const BODY_CONSUMED_HINT =
  'Put the webhook above the parser: app.use(router.routes()) with paymentWebhook(…) before ' +
  'app.use(bodyParser()) or app.use(koaBody()), or exclude its path from the parser. ' +
  'With includeUnparsed, koa-body keeps text, not the bytes.';

/**
 * Creates middleware that verifies a notification, runs your handler and replies.
 *
 * @function
 */
export const paymentWebhook: PaymentWebhook<KoaHost, Middleware> = (options, handlers) => {
  const receiver = createReceiver(options, handlers);
  return (ctx) => {
    // Middleware that does not wait for this one would let Koa answer.
    ctx.respond = false;
    passKeptBytes(ctx);
    return respond(receiver, ctx.req, ctx.res, hostOf(ctx), BODY_CONSUMED_HINT);
  };
};

/**
 * Creates middleware that verifies a notification and calls `next`. It answers rejected requests
 * and, unless `unrecognized` is `'pass'`, events of unrecognized kinds. Your code answers the rest.
 *
 * @function
 */
export const paymentGate: PaymentGate<KoaHost, Middleware> = (options) => {
  const gate = createGate(options);
  return async (ctx, next) => {
    passKeptBytes(ctx);
    const delivery = deliveryOf(ctx.req, BODY_CONSUMED_HINT);
    const reply = await gate.admit(delivery, hostOf(ctx), ctx);
    if (reply !== undefined) {
      // Middleware that does not wait for this one would let Koa answer too.
      ctx.respond = false;
      return writeReply(ctx.req, ctx.res, reply);
    }
    // A parser behind the gate would wait for bytes that the gate has read.
    (ctx as { disableBodyParser?: boolean }).disableBodyParser = true;
    // koa-body has no such flag, and parses nothing if these headers announce no body.
    delete ctx.req.headers['content-length'];
    delete ctx.req.headers['transfer-encoding'];
    await next();
  };
};

/** Copies bytes that an earlier parser kept on Koa's request to Node's request. */
function passKeptBytes({ req, request }: Context): void {
  for (const name of ['rawBody', 'body'] as const) {
    const kept: unknown = Object.getOwnPropertyDescriptor(request, name)?.value;
    if (Buffer.isBuffer(kept)) Object.assign(req, { [name]: kept });
  }
}

function hostOf(ctx: Context): KoaHost {
  const { params = {} } = ctx as { params?: Record<string, string> };
  return { req: ctx.req, state: ctx.state, params };
}
