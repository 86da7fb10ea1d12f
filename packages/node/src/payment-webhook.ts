import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ConfigurationError,
  createReceiver,
  WebhookError,
  type EventSchemas,
  type EventTypes,
  type Handlers,
  type NoEvents,
  type ReceiverOptions,
  type SchemasOf,
} from '@paylink/core';
import { errorReply } from '@paylink/core/internal';
import { deliveryOf } from './delivery.js';
import { writeReply } from './write-reply.js';

/** The node:http request, as handlers get it. */
export interface NodeHost {
  readonly req: IncomingMessage;
}

export interface NodeWebhookOptions<Events extends EventSchemas> extends ReceiverOptions<
  Events,
  NodeHost
> {
  /** Gets the handler's error, because node:http has no error handler. Default: `console.error`. */
  readonly onError?: ((error: unknown, host: NodeHost) => unknown) | undefined;
}

/**
 * Makes a request listener for `http.createServer`, or for the compatibility API of HTTP/2. The
 * listener verifies the notification, runs the handler and replies. If the handler throws, the
 * reply is 500 `handler_failed` and `onError` gets the error. The listener's promise resolves when
 * the reply is written.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  all: NodeWebhookOptions<SchemasOf<Events>>,
  handlers: Handlers<SchemasOf<Events>, NodeHost>,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  // Removes the prototype, so that a polluted one cannot set an option.
  const own = { __proto__: null, ...all } as typeof all;
  const { onError = logError, ...options } = own;
  if (typeof onError !== 'function') throw new ConfigurationError('onError', 'must be a function');
  const receiver = createReceiver<SchemasOf<Events>, NodeHost>(options, handlers);

  return async (req, res) => {
    try {
      await writeReply(req, res, await receiver.receive(deliveryOf(req), { req }));
    } catch (error) {
      await writeReply(req, res, errorReply(new WebhookError('handler_failed')));
      try {
        await onError(error, { req });
      } catch (failure) {
        logError(failure);
      }
    }
  };
}

function logError(error: unknown): void {
  try {
    console.error('[paylink] the webhook handler failed:', error);
  } catch {
    // A getter of the error threw while the console printed the error.
  }
}
