import type { PaymentWebhook } from '@paylink/core';
import { check, createReceiverOrRefuse } from '@paylink/core/internal';
import { respond } from '@paylink/node';
import type { NextApiHandler, NextApiRequest } from 'next';

export { WebhookError, type WebhookEvent } from '@paylink/core';

/** The Next.js request, as handlers receive it. */
export interface NextApiHost {
  readonly req: NextApiRequest;
}

const APP_ROUTER = "is for the Pages Router. Use: import { paymentWebhook } from '@paylink/next'";
const HINT = 'Add to the same file: export const config = { api: { bodyParser: false } };';

/**
 * Creates an API route of the Pages Router. The file must also export `config`, without a parser.
 * The route verifies a notification, runs your handler and replies. With a missing or invalid
 * secret, each request receives a 500.
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
