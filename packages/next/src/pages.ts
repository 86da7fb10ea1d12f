import type { PaymentWebhook } from '@paylink/core';
import { check, createReceiverOrRefuse } from '@paylink/core/internal';
import { respond } from '@paylink/node';
import type { NextApiHandler, NextApiRequest } from 'next';

export { WebhookError, type WebhookEvent } from '@paylink/core';

/** The Next.js request that handlers receive. */
export interface NextApiHost {
  readonly req: NextApiRequest;
}

const APP_ROUTER = "is for the Pages Router. Use: import { paymentWebhook } from '@paylink/next'";
const HINT = 'Add to the same file: export const config = { api: { bodyParser: false } };';

/**
 * Creates a Pages Router API route. The file must also export a `config` that disables the
 * body parser. The route verifies a notification, runs your handler and replies. If the secret is
 * missing or invalid, each request gets a 500.
 *
 * @function
 */
export const paymentWebhookApi: PaymentWebhook<NextApiHost, NextApiHandler> = (
  options,
  handlers,
) => {
  const receiver = createReceiverOrRefuse(options, handlers);
  return async (req, res) => {
    check(typeof req.headers['get'] !== 'function', 'paymentWebhookApi', APP_ROUTER);
    await respond(receiver, req, res, { req }, HINT);
  };
};
