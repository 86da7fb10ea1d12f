import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Delivery } from '@paylink/core';
import { readBody } from './read-body.js';

/**
 * Makes the delivery of a request of node:http, or of whatever stands on it: Express, Fastify, Koa, HTTP/2's compatibility
 * API.
 *
 * @param mend what the merchant has to change when something read the body first; a sentence for the log
 * @param stream where the body's bytes come from, where a host's hooks have put another stream around the request's own
 */
export function deliveryOf(
  req: IncomingMessage,
  mend = 'Let nothing read the request before paymentWebhook.',
  stream: Readable = req,
): Delivery {
  return {
    method: req.method,
    header: (name) => headerOf(req, name),
    body: (limits) => readBody(req, stream, limits, mend),
  };
}

/**
 * The header with all its lines, joined. `req.headers` alone would not do: of some names Node keeps the first line and drops
 * the others, and `headers` may rename ours to one of them.
 */
function headerOf(req: IncomingMessage, name: string): string | undefined {
  const first = req.headers[name];
  if (first === undefined) return undefined;
  const { rawHeaders } = req;
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const key = rawHeaders[index]!;
    if (key.length === name.length && key.toLowerCase() === name) lines.push(rawHeaders[index + 1]!);
  }
  if (lines.length > 0) return lines.join(', ');
  // A request that another layer made up has no lines; and there an array stands for a repeated header.
  return typeof first === 'string' ? first : undefined;
}
