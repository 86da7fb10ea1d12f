import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Delivery } from '@paylink/core';
import { readBody } from './read-body.js';

/**
 * Makes the delivery of a request of node:http, or of a host that builds on it: Express, Fastify, Koa, HTTP/2's compatibility
 * API.
 *
 * @param bodyConsumedHint how to fix it when something read the body first; a sentence for the log
 * @param stream where the body's bytes come from, when a host's hooks have put another stream around the request's own
 */
export function deliveryOf(
  req: IncomingMessage,
  bodyConsumedHint = 'Let nothing read the request before paymentWebhook.',
  stream: Readable = req,
): Delivery {
  return {
    method: req.method,
    header: (name) => headerOf(req, name),
    body: (limits) => readBody(req, stream, limits, bodyConsumedHint),
  };
}

/**
 * The header as it was received, all its lines joined. `req.headers` keeps only the first line of some names, and a middleware
 * that inflates the body deletes Content-Encoding from it.
 */
function headerOf(req: IncomingMessage, name: string): string | undefined {
  const { rawHeaders }: { readonly rawHeaders?: readonly string[] } = req;
  if (rawHeaders === undefined || rawHeaders.length === 0) {
    // A layer in between has made this request; an array is a repeated header.
    const value = req.headers[name];
    return typeof value === 'string' ? value : undefined;
  }
  let joined: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const key = rawHeaders[index]!;
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    const line = rawHeaders[index + 1]!;
    joined = joined === undefined ? line : `${joined}, ${line}`;
  }
  return joined;
}
