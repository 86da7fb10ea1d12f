import { createReceiver, type ConfirmedPayment, type EventSchemas, type Reply } from '@paylink/core';
import type { ReceiverHandlers, ReceiverOptions } from '@paylink/core';
import type { FetchDelivery } from './delivery.js';
import { carryResponses, responseOf, type AnswerOf } from './returned.js';

/** Takes a delivery to its Response. Rejects with what a handler threw. */
export type Respond<Host> = (delivery: FetchDelivery, host: Host) => Promise<Response>;

/**
 * Makes the receiver of a host whose replies are Responses, for an adapter that makes its own deliveries.
 *
 * @param answerOf what a handler answered, by what it returned and its context: for a host with other ways to answer than to return a
 *   Response. Asked under a store alone, before the commit
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function createResponder<
  const Events extends EventSchemas,
  Payment extends ConfirmedPayment,
  Scope extends object,
  Host extends object,
>(
  options: ReceiverOptions<Events, Payment, Scope, Host>,
  handlers: ReceiverHandlers<Events, Payment, Scope, Host>,
  answerOf: (value: unknown, host: Host) => unknown = (value) => value,
): Respond<Host> {
  const { idempotency } = Object(options) as Partial<typeof options>;
  const carrying = carryResponses(handlers, idempotency === undefined ? undefined : (answerOf as AnswerOf));
  const receiver = createReceiver<Events, Payment, Scope, Host>(options, carrying);
  return (delivery, host) =>
    receiver.receive(delivery, host).then(
      (reply) => responseOf(reply.value) ?? toResponse(delivery, reply),
      (error: unknown) => {
        const response = responseOf(error);
        if (response !== undefined) return response;
        throw error;
      },
    );
}

/** The Response of a reply. */
export function toResponse(delivery: FetchDelivery, { status, headers, body }: Reply): Response {
  delivery.cancel?.();
  const closing = delivery.closes && [401, 408].includes(status) ? { ...headers, connection: 'close' } : headers;
  return new Response(delivery.method === 'HEAD' ? null : body, { status, headers: closing });
}
