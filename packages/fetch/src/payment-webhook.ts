import { createReceiver } from '@paylink/core';
import type { EventTypes, Handlers, NoEvents, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf, toResponse } from './delivery.js';
import type { FetchRequest } from './read-body.js';

/** A handler's context: the request and the host's values, such as `env` or `params`. */
export type FetchHost<Extra = unknown> = { readonly request: Request } & Extra;

/** Takes a request and the rest of the handlers' context. */
type FetchHandler<Extra = unknown> = (request: FetchRequest, host?: Extra) => Promise<Response>;

/**
 * Creates a handler for any Fetch API host, such as Bun, Deno, Workers, SvelteKit or Nitro.
 *
 * @throws ConfigurationError that names the option or the handler, and the problem
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents, Extra = unknown>(
  options: ReceiverOptions<SchemasOf<Events>, FetchHost<Extra>>,
  handlers: Handlers<SchemasOf<Events>, FetchHost<Extra>>,
): FetchHandler<Extra> {
  const receiver = createReceiver<SchemasOf<Events>, FetchHost<Extra>>(options, handlers);
  return async (request, host) => {
    const delivery = deliveryOf(request, host);
    const context: unknown = { ...host, request };
    return toResponse(delivery, await receiver.receive(delivery, context as FetchHost<Extra>));
  };
}
