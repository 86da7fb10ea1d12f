import type { PaymentWebhook } from '@paylink/core';
import { check, createReceiverOrRefuse } from '@paylink/core/internal';
import { deliveryOf, toResponse, type FetchHost } from '@paylink/fetch';

export { WebhookError, type WebhookEvent } from '@paylink/core';

/** The second argument of a route handler: the parameters of a dynamic route. */
type RouteContext = {
  readonly params: Promise<Record<string, string | string[] | undefined>>;
};

/** A handler's context in Next.js: the request and the parameters of a dynamic route. */
export type NextHost = FetchHost<Partial<RouteContext>>;

const PAGES_ROUTER =
  "is for the App Router. Use: import { paymentWebhookApi } from '@paylink/next/pages'";

/** Fits `export const POST`. Two signatures, because Next.js 15 refuses an optional context. */
type RouteHandler = ((request: Request) => Promise<Response>) &
  ((request: Request, context: RouteContext) => Promise<Response>);

/**
 * Creates an App Router route handler for the `nodejs` and `edge` runtimes. The route verifies a
 * notification, runs your handler and replies. If the secret is missing or invalid, each request
 * gets a 500.
 *
 * @function
 */
export const paymentWebhook: PaymentWebhook<NextHost, RouteHandler> = (options, handlers) => {
  const receiver = createReceiverOrRefuse(options, handlers);
  return async (request: Request, context?: RouteContext) => {
    const { headers } = request as { readonly headers?: { readonly get?: unknown } };
    check(typeof headers?.get === 'function', 'paymentWebhook', PAGES_ROUTER);
    const delivery = deliveryOf(request);
    return toResponse(delivery, await receiver.receive(delivery, { ...context, request }));
  };
};
