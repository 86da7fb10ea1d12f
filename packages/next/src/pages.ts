import type { EventTypes, Handlers, NoEvents, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf, writeReply } from '@paylink/node';
import type { NextApiHandler, NextApiRequest } from 'next';
import { receiverOrMissingSecret } from './missing-secret.js';
import { requireRouter } from './require-router.js';

export { WebhookError, type WebhookEvent } from '@paylink/core';

/** The Next.js request, as handlers get it. */
export interface NextApiHost {
  readonly req: NextApiRequest;
}

const HINT = 'Add to the same file: export const config = { api: { bodyParser: false } };';

/**
 * Makes an API route of the Pages Router. The file must also export `config` without a body parser.
 * The route verifies a notification, runs your handler and replies. A missing secret gives a 500 at
 * the first request.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhookApi<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, NextApiHost>,
  handlers: Handlers<SchemasOf<Events>, NextApiHost>,
): NextApiHandler {
  const receiver = receiverOrMissingSecret<SchemasOf<Events>, NextApiHost>(options, handlers);
  return async (req, res) => {
    requireRouter('pages', req);
    await writeReply(req, res, await receiver.receive(deliveryOf(req, HINT), { req }));
  };
}
