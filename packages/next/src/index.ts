import {
  errorReply,
  WebhookError,
  type ConfirmedPayment,
  type EventSchemas,
  type NoEvents,
  type ReceiverHandlers,
} from '@paylink/core';
import type { ReceiverOptions } from '@paylink/core';
import { paymentWebhook as fetchWebhook, type FetchHost } from '@paylink/fetch';
import { deferSecretFault } from './defer-secret-fault.js';
import { requireRouter } from './require-router.js';

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
  const Events extends EventSchemas = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  options: ReceiverOptions<Events, Payment, Scope, NextHost>,
  handlers: ReceiverHandlers<Events, Payment, Scope, NextHost>,
): RouteHandler {
  return deferSecretFault<RouteHandler>(
    options,
    () => {
      const handle = fetchWebhook<Events, Payment, Scope, Partial<RouteContext>>(options, handlers);
      return async (request: Request, context?: RouteContext) => {
        requireRouter('app', request);
        return handle(request, context);
      };
    },
    (tell) => async (request: Request) => {
      tell(request.url, (path) => `app${path}/route`);
      const { status, headers, body } = errorReply(new WebhookError('misconfigured'));
      return new Response(body, { status, headers });
    },
  );
}
