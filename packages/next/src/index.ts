import type { EventTypes, Handlers, NoEvents, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf, toResponse, type FetchHost } from '@paylink/fetch';
import { receiverOrMissingSecret } from './missing-secret.js';
import { requireRouter } from './require-router.js';

export { WebhookError, type WebhookEvent } from '@paylink/core';

/** The second argument of a route handler: the parameters of a dynamic route. */
type RouteContext = {
  readonly params: Promise<Record<string, string | string[] | undefined>>;
};

/** The context of a handler in Next.js: the request, and the parameters of a dynamic route. */
export type NextHost = FetchHost<Partial<RouteContext>>;

/** Fits `export const POST`. Two signatures, because Next.js 15 refuses an optional context. */
type RouteHandler = ((request: Request) => Promise<Response>) &
  ((request: Request, context: RouteContext) => Promise<Response>);

/**
 * Makes a route handler of the App Router, for the `nodejs` and the `edge` runtime. It verifies a
 * notification, runs your handler and replies. A missing secret gives a 500 at the first request.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, NextHost>,
  handlers: Handlers<SchemasOf<Events>, NextHost>,
): RouteHandler {
  const receiver = receiverOrMissingSecret<SchemasOf<Events>, NextHost>(options, handlers);
  return async (request: Request, context?: RouteContext) => {
    requireRouter('app', request);
    const delivery = deliveryOf(request);
    return toResponse(delivery, await receiver.receive(delivery, { ...context, request }));
  };
}
