/**
 * Only the necessary work: read, two hashes, JSON, reply. Without limits, timeouts or error
 * handling, this is the upper bound of a host.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECRET } from '../delivery.js';
import { credit, HEADERS, RECEIVED } from './merchant.js';

const BLOCK = 64;
const DIGEST = 32;
const inner = Buffer.alloc(BLOCK + 65_536, 0x36);
const outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);
for (const [index, byte] of Buffer.from(SECRET).entries()) {
  inner[index]! ^= byte;
  outer[index]! ^= byte;
}
inner.fill(0, BLOCK);

/** Credits a good notification, and returns true for it. */
export function creditLeast(body: Buffer, { headers }: IncomingMessage): boolean {
  body.copy(inner, BLOCK);
  outer.write(hash('sha256', inner.subarray(0, BLOCK + body.length), 'binary'), BLOCK, 'latin1');
  const expected = Buffer.from(hash('sha256', outer, 'binary'), 'latin1');
  if (!timingSafeEqual(expected, Buffer.from(headers['x-service-signature'] as string, 'hex')))
    return false;
  const { reference } = JSON.parse(body.toString()) as { readonly reference: string };
  if (headers['x-service-event'] === 'payment.succeeded') credit(reference);
  return true;
}

export function readLeast(req: IncomingMessage, done: (body: Buffer) => void): void {
  let body: Buffer | undefined;
  req.on(
    'data',
    (piece: Buffer) => (body = body === undefined ? piece : Buffer.concat([body, piece])),
  );
  req.on('end', () => {
    done(body!);
  });
}

/** Receives on any host that builds on node:http. */
export function receiveLeast(req: IncomingMessage, res: ServerResponse): void {
  readLeast(req, (body) => {
    const good = creditLeast(body, req);
    res.writeHead(good ? 200 : 401, HEADERS).end(RECEIVED);
  });
}
