/** Notifications as bytes for the wire: genuine, or damaged in one place. */
import { createHmac } from 'node:crypto';
import { signedDelivery } from '@paylink/testing';
import { mustStaySecret } from './secrets.js';
import { chunked, requestBytes, type HeaderLines } from './wire.js';

/** A test secret, long enough that a match in an output is no accident. */
export const SECRET = 'whsec_Zk3vQ8pT1nW6yB0rL5cX9dJ2';
export const PATH = '/webhooks/payments';
export const REFERENCE = 'order-42';
export const BODY = Buffer.from(`{"reference":"${REFERENCE}"}`);

export interface Message {
  readonly method?: string;
  readonly path?: string;
  readonly version?: '1.0' | '1.1';
  /** Further lines, before all others. */
  readonly lines?: HeaderLines;
  /** One line per value. Default: the right signature. */
  readonly signature?: string | readonly string[];
  /** One line per value. Default `payment.succeeded`. */
  readonly event?: string | readonly string[];
  readonly contentType?: string | null;
  /** `chunked`, or a Content-Length. Default: the body's length. */
  readonly framing?: 'chunked' | 'none' | number;
}

/** Computes the signature without core. */
export function mac(
  body: string | Uint8Array,
  secret: string | Uint8Array = SECRET,
  algorithm = 'sha256',
): string {
  const signature = createHmac(algorithm, secret).update(body).digest('hex');
  mustStaySecret(signature);
  return signature;
}

/** Returns a request's head with the empty line. */
export function head(body: string | Uint8Array, message: Message = {}): Buffer {
  const {
    method = 'POST',
    path = PATH,
    version = '1.1',
    contentType = 'application/json',
    framing = body.length,
  } = message;
  const { signature = mac(body), event = 'payment.succeeded', lines = [] } = message;
  const all: (readonly [string, string])[] = [...lines];
  if (contentType !== null) all.push(['Content-Type', contentType]);
  for (const value of [event].flat()) all.push(['X-Service-Event', value]);
  for (const value of [signature].flat()) {
    all.push(['X-Service-Signature', value]);
    mustStaySecret(value);
  }
  if (framing === 'chunked') all.push(['Transfer-Encoding', 'chunked']);
  else if (framing !== 'none') all.push(['Content-Length', String(framing)]);
  const text = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(
    `${method} ${path} HTTP/${version}\r\nHost: shop.example\r\n${text}\r\n`,
    'latin1',
  );
}

/** A whole request. */
export function post(body: string | Uint8Array = BODY, message: Message = {}): Buffer {
  const bytes = Buffer.from(body);
  mustStaySecret(bytes.toString('latin1'));
  return Buffer.concat([
    head(bytes, message),
    message.framing === 'chunked' ? chunked(bytes) : bytes,
  ]);
}

export function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
}

/** Makes a genuine delivery with the merchants' test package. */
export function genuine(reference: string): Buffer {
  const { headers, rawBody, signature } = signedDelivery({ secret: SECRET, reference });
  mustStaySecret(signature);
  const length = ['Content-Length', String(rawBody.length)] as const;
  const lines = [['Host', 'shop.example'], ...Object.entries(headers), length] as const;
  return requestBytes(lines, rawBody, { path: PATH });
}

/** Returns a signed JSON body of exactly `length` bytes. */
export function bodyOf(length: number): Buffer {
  const empty = `{"reference":"${REFERENCE}","note":""}`;
  return Buffer.from(`{"reference":"${REFERENCE}","note":"${'n'.repeat(length - empty.length)}"}`);
}
