import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { SignedDelivery } from '@paylink/testing';

/** A request of which Node has received all, the body still unread in its buffer. */
export function received({
  headers,
  rawBody,
}: Pick<SignedDelivery, 'headers' | 'rawBody'>): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  req.method = 'POST';
  req.httpVersionMajor = 1;
  Object.assign(req.headers, headers);
  req.rawHeaders = Object.entries(headers).flat();
  if (rawBody.length > 0) req.push(rawBody);
  req.push(null);
  req.complete = true;
  return req;
}
