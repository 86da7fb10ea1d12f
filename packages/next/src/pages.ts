import { finished } from 'node:stream/promises';
import { createReceiver, type ConfirmedPayment, type EventTypes, type HostContext } from '@paylink/core';
import type { NoEvents, ReceiverHandlers, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf, endBegun, writeReply } from '@paylink/node';
import type { NextApiHandler, NextApiRequest, NextApiResponse } from 'next';
import { requireRouter } from './require-router.js';
import { SecretFault } from './secret-fault.js';

/** What a handler is given of Next.js. With `idempotency` no `res`: nothing may be sent before the commit. */
export type NextApiHost<Scope = never> = HostContext<Scope, { readonly req: NextApiRequest }, { readonly res: NextApiResponse }>;

const BODY_CONSUMED_HINT = 'Add to the same file: export const config = { api: { bodyParser: false } };';

/**
 * Makes an API route of the Pages Router; beside it the file needs `export const config = { api: { bodyParser: false } }`. A
 * missing secret is a 500 at the first request, since `next build` imports the route. What a handler throws is Next's.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhookApi<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  options: ReceiverOptions<SchemasOf<Events>, Payment, Scope, NextApiHost<Scope>>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, NextApiHost<Scope>>,
): NextApiHandler {
  const receiver = SecretFault.or(options, () =>
    createReceiver<SchemasOf<Events>, Payment, Scope, NextApiHost<Scope>>(options, handlers),
  );
  return async (req, res) => {
    requireRouter('pages', req);
    const { statusCode } = res;
    const reply =
      receiver instanceof SecretFault
        ? receiver.reply(req.url, (path) => `pages${path}`)
        : await receiver.receive(deliveryOf(req, BODY_CONSUMED_HINT), { req }, { res }).catch((error: unknown) => {
            // Next.js would end it with the status that the handler began it with.
            endBegun(res);
            throw error;
          });
    writeReply(req, res, reply, statusCode);
    // Next.js complains of a route that has returned before its response has ended, as it may when the sender is still uploading.
    // A sender that has gone away ends it too.
    await finished(res).catch(() => undefined);
  };
}
