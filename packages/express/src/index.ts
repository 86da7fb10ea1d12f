import type { IncomingMessage, ServerResponse } from 'node:http';
import { createGate, createReceiver, type PaymentGate, type PaymentWebhook } from '@paylink/core';
import { deliveryOf, respond, writeReply } from '@paylink/node';
import type { Request } from 'express';

export { WebhookError, webhookEvent, type WebhookEvent } from '@paylink/core';

/** The Express request that handlers receive. Handlers cannot reply through it. */
export interface ExpressHost {
  readonly req: Omit<Request, 'res' | 'next'>;
}

// Fits every version of Express: the parameters are the Node classes that all versions extend.
type ExpressHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type ExpressMiddleware = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

const BODY_CONSUMED_HINT =
  "Register the webhook above the parser: app.post('/webhooks/payments', paymentWebhook(…)) before " +
  'app.use(express.json()). Or let the parser keep the bytes: ' +
  'express.json({ verify: (req, res, buf) => { req.rawBody = buf; } })';

/**
 * Creates a route handler that verifies a notification, runs your handler and replies.
 *
 * @function
 */
export const paymentWebhook: PaymentWebhook<ExpressHost, ExpressHandler> = (options, handlers) => {
  const receiver = createReceiver(options, handlers);
  return (req, res) => respond(receiver, req, res, { req: req as Request }, BODY_CONSUMED_HINT);
};

/**
 * Creates middleware that verifies a notification and calls `next`. It answers rejected requests
 * and, unless `unrecognized` is `'pass'`, events of unrecognized kinds. Your code answers the rest.
 *
 * @function
 */
export const paymentGate: PaymentGate<ExpressHost, ExpressMiddleware> = (options) => {
  const gate = createGate(options);
  return async (req, res, next) => {
    const delivery = deliveryOf(req, BODY_CONSUMED_HINT);
    const reply = await gate.admit(delivery, { req: req as Request }, req);
    if (reply !== undefined) return writeReply(req, res, reply);
    // The body-parser of Express 4 would wait for bytes that the gate has read, and has no public
    // flag.
    (req as { _body?: boolean })._body = true;
    next();
  };
};
