import type { ConfirmedPayment, EventTypes, NoEvents, ReceiverHandlers, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf } from './delivery.js';
import type { FetchRequest } from './read-body.js';
import { createResponder } from './respond.js';

/** What a handler is given of the host: the request as it came, and what the host's call added (`env`, `params` …). */
export type FetchHost<Extra = unknown> = { readonly request: Request } & Extra;

/** Takes a request, and what handlers are given beside it. Rejects with what a handler threw. */
export type FetchHandler<Extra = unknown> = (request: FetchRequest, host?: Extra) => Promise<Response>;

/**
 * Makes a handler for any host of the Fetch API. A merchant's handler may return a Response; with `idempotency` one that is
 * not 2xx rolls the work back, and one that is goes out after the commit.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
  Extra = unknown,
>(
  options: ReceiverOptions<SchemasOf<Events>, Payment, Scope, FetchHost<Extra>>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, FetchHost<Extra>>,
): FetchHandler<Extra> {
  const respond = createResponder<SchemasOf<Events>, Payment, Scope, FetchHost<Extra>>(options, handlers);
  // A host's own request takes the place of a Request.
  return (request, host) => {
    const context: unknown = Object.assign({}, host, { request });
    return respond(deliveryOf(request, host), context as FetchHost<Extra>);
  };
}
