import type { ConfirmedPayment, EventTypes, NoEvents, ReceiverHandlers, ReceiverOptions, SchemasOf } from '@paylink/core';
import { createResponder, deliveryOf, toResponse, type FetchHost } from '@paylink/fetch';
import { requireRouter } from './require-router.js';
import { SecretFault } from './secret-fault.js';

/** The second argument of a route handler: of a dynamic route, its parameters. */
export interface RouteContext {
  readonly params: Promise<Record<string, string | string[] | undefined>>;
}

/** What a handler is given of Next.js: the request, and the parameters of a dynamic route. */
export type NextHost = FetchHost<Partial<RouteContext>>;

/** Fits `export const POST` of a route.ts. */
// The context is not an optional parameter: the build of Next.js 15 refuses a route whose second argument may be undefined.
export type RouteHandler = ((request: Request) => Promise<Response>) &
  ((request: Request, context: RouteContext) => Promise<Response>);

/**
 * Makes a route handler of the App Router, for the `nodejs` and the `edge` runtime. A missing secret throws at the first request
 * and not here, since `next build` imports the route: it is a 500, and the log says why. A handler may return a Response.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  options: ReceiverOptions<SchemasOf<Events>, Payment, Scope, NextHost>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, NextHost>,
): RouteHandler {
  const respond = SecretFault.or(options, () => createResponder<SchemasOf<Events>, Payment, Scope, NextHost>(options, handlers));
  return async (request: Request, context?: RouteContext) => {
    requireRouter('app', request);
    const delivery = deliveryOf(request);
    if (respond instanceof SecretFault)
      return toResponse(
        delivery,
        respond.reply(request.url, (path) => `app${path}/route`),
      );
    return respond(delivery, { ...context, request });
  };
}
