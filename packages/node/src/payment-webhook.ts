import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ConfigurationError,
  createReceiver,
  errorReply,
  logQuietly,
  WebhookError,
  type ConfirmedPayment,
  type EventSchemas,
  type EventTypes,
  type HostContext,
  type NoEvents,
  type ReceiverHandlers,
  type ReceiverOptions,
  type SchemasOf,
} from '@paylink/core';
import { deliveryOf } from './delivery.js';
import { writeReply } from './write-reply.js';

/** What a handler is given of the host. With `idempotency` no `res`: nothing may be sent before the commit. */
export type NodeHost<Scope = never> = HostContext<Scope, { readonly req: IncomingMessage }, { readonly res: ServerResponse }>;

export interface NodeWebhookOptions<
  Events extends EventSchemas,
  Payment extends ConfirmedPayment,
  Scope extends object,
> extends ReceiverOptions<Events, Payment, Scope, NodeHost<Scope>> {
  /** Called with what a handler threw, since node:http has no error handling of its own. Default: `console.error`. */
  readonly onError?:
    ((error: unknown, host: { readonly req: IncomingMessage; readonly res: ServerResponse }) => unknown) | undefined;
}

/**
 * Makes a request listener for `http.createServer`, or for HTTP/2's compatibility API: verifies a notification, runs the
 * handler, replies. What the handler throws is 500 `handler_failed`, and given to `onError`.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  all: NodeWebhookOptions<SchemasOf<Events>, Payment, Scope>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, NodeHost<Scope>>,
): (req: IncomingMessage, res: ServerResponse) => void {
  const { onError = logError, ...options } = Object(all) as typeof all;
  if (typeof onError !== 'function') throw new ConfigurationError('onError', 'must be a function');
  const receiver = createReceiver<SchemasOf<Events>, Payment, Scope, NodeHost<Scope>>(options, handlers);

  return (req, res) => {
    const { statusCode } = res;
    receiver
      .receive(deliveryOf(req), { req }, { res })
      .then(
        (reply) => {
          writeReply(req, res, reply, statusCode);
        },
        (error: unknown) => {
          writeReply(req, res, errorReply(new WebhookError('handler_failed')));
          return onError(error, { req, res });
        },
      )
      .catch(logError);
  };
}

function logError(error: unknown): void {
  logQuietly(() => console.error('[paylink] the webhook handler failed:', error));
}
