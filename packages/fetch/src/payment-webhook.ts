import {
  createReceiver,
  type ConfirmedPayment,
  type EventSchemas,
  type NoEvents,
  type ReceiverHandlers,
  type ReceiverOptions,
  type Reply,
} from '@paylink/core';
import { deliveryOf } from './delivery.js';
import { holdBack, isResponse, RolledBack } from './rolled-back.js';

/** What a handler is given of the host: the request, and whatever the host's call added (`env`, `params` …). */
export type FetchHost<Extra = unknown> = { readonly request: Request } & Extra;

/** Takes a request, and what handlers shall be given beside it. Rejects with what a handler threw. */
export type FetchHandler<Extra = unknown> = (request: Request, host?: Extra) => Promise<Response>;

/**
 * Makes a handler for any host of the Fetch API. A merchant's handler may return a Response; with `idempotency` one that is
 * not 2xx undoes the work, and one that is goes out after the commit.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventSchemas = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
  Extra = unknown,
>(
  options: ReceiverOptions<Events, Payment, Scope, FetchHost<Extra>>,
  handlers: ReceiverHandlers<Events, Payment, Scope, FetchHost<Extra>>,
): FetchHandler<Extra> {
  const held = options.idempotency === undefined ? handlers : holdBack(handlers);
  const receiver = createReceiver<Events, Payment, Scope, FetchHost<Extra>>(options, held);

  return async (request, host) => {
    try {
      const reply = await receiver.receive(deliveryOf(request), { ...host, request } as FetchHost<Extra>);
      return isResponse(reply.value) ? reply.value : toResponse(request, reply);
    } catch (error) {
      const response = RolledBack.responseOf(error);
      if (response !== undefined) return response;
      throw error;
    }
  };
}

function toResponse(request: Request, { status, headers, body }: Reply): Response {
  // Refused before it was read: the sender is told to stop.
  if (request.body !== null && !request.bodyUsed) request.body.cancel().catch(() => undefined);
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}
