import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Delivery } from '@paylink/core';
import { headerOf } from './header.js';
import { readBody } from './read-body.js';

/**
 * Makes the delivery of a request of node:http, or of the compatibility API of HTTP/2.
 *
 * @param hint for the log: the fix if other code read the body first
 * @param stream the body, if a host's hooks put another stream around the request
 */
export function deliveryOf(
  req: IncomingMessage,
  hint = 'Other code must not read the request before paymentWebhook.',
  stream: Readable = req,
): Delivery {
  return {
    method: req.method,
    header: (name) => headerOf(req, name),
    body: (limits) => readBody(req, stream, limits, hint),
  };
}
