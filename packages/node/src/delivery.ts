import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Delivery } from '@paylink/core';
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

/**
 * Joins all lines of a header as received. `req.headers` keeps only the first line of some names,
 * and middleware that inflates a body deletes Content-Encoding there.
 */
function headerOf(req: IncomingMessage, name: string): string | undefined {
  const { rawHeaders } = req as { readonly rawHeaders?: readonly string[] };
  if (rawHeaders === undefined || rawHeaders.length === 0) {
    // Another layer made this request, so `rawHeaders` is empty. An array is a repeated header.
    const value = req.headers[name];
    return typeof value === 'string' ? value : undefined;
  }
  let lines: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index]!;
    if (given.length !== name.length || given.toLowerCase() !== name) continue;
    const line = rawHeaders[index + 1]!;
    lines = lines === undefined ? line : `${lines}, ${line}`;
  }
  return lines;
}
