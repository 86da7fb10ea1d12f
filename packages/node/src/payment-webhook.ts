import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver } from '@paylink/core';
import type { EventTypes, Handlers, NoEvents, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf } from './delivery.js';
import { withoutReply } from './request-view.js';
import { writeReply } from './write-reply.js';

/** The node:http request, as handlers get it. */
export interface NodeHost {
  readonly req: IncomingMessage;
}

/**
 * Makes a request listener for `http.createServer`, or for the compatibility API of HTTP/2. The
 * listener's promise resolves when the reply is written.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, NodeHost>,
  handlers: Handlers<SchemasOf<Events>, NodeHost>,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const receiver = createReceiver<SchemasOf<Events>, NodeHost>(options, handlers);
  return async (req, res) => {
    const giveBack = withoutReply(req);
    const reply = await receiver.receive(deliveryOf(req), { req });
    giveBack();
    await writeReply(req, res, reply);
  };
}
