import type { IncomingMessage } from 'node:http';
import type { Delivery } from '@paylink/core';
import { headerOf } from './header.js';
import { readBody } from './read-body.js';

/**
 * Creates a delivery from a request received through node:http or the HTTP/2 compatibility API.
 *
 * @param hint the fix to log if other code read the body first
 */
export function deliveryOf(
  req: IncomingMessage,
  hint = 'Other code must not read the request before paymentWebhook.',
): Delivery {
  return {
    method: req.method,
    header: (name) => headerOf(req, name),
    body: (limits) => readBody(req, limits, hint),
  };
}
