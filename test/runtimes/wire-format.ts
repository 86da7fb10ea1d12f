import type { SignedDelivery } from '@paylink/testing';

/** A request on the wire: its head, then the body in the requested pieces. */
export interface Parts {
  readonly head: Buffer;
  readonly pieces: readonly Buffer[];
}

/** Returns a delivery as the service sends it, or with another signature. */
export function partsOf(
  { headers, rawBody }: SignedDelivery,
  {
    path = '/webhooks/payments',
    signature = headers['x-service-signature']!,
    chunked = false,
    pieces = 1,
  } = {},
): Parts {
  const framing = chunked
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(rawBody.length) };
  const all = { host: 'shop.example', ...headers, 'x-service-signature': signature, ...framing };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const size = Math.ceil(rawBody.length / pieces);
  const cut = Array.from({ length: pieces }, (_, index) =>
    rawBody.subarray(index * size, (index + 1) * size),
  );
  return {
    head: Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
    pieces: chunked ? [...cut.map(asChunk), Buffer.from('0\r\n\r\n')] : cut,
  };
}

function asChunk(bytes: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
}
