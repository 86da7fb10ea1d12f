/** Deliveries as the service sends them. Signed here and not by @paylink/core, so that a fault of core cannot hide. */
import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';

/** The secret that is used where none is given. It is public: @paylink/core refuses it under NODE_ENV=production. */
export const TEST_SECRET = 'paylink-testing-secret-not-for-production';

export interface SignedDeliveryOptions {
  /** The webhook secret to sign with; a string stands for its UTF-8 bytes. Default `TEST_SECRET`. */
  readonly secret?: string | Uint8Array | undefined;
  /** The event kind of the event header. Default `payment.succeeded`. */
  readonly type?: string | undefined;
  /** The merchant's reference of the payment. Default `order-42`. */
  readonly reference?: string | undefined;
  /** More fields of the body, or another `reference`. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /** The whole body, in place of `reference` and `payload`: any bytes, also ones that are no JSON. */
  readonly rawBody?: string | Uint8Array | undefined;
  /** Other names of the two headers, as the receiver's option of the same name. */
  readonly headers?: { readonly signature?: string | undefined; readonly event?: string | undefined } | undefined;
}

/** What Fastify's `inject` takes. */
export interface InjectOptions {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly payload: Buffer;
}

/** A delivery with a signature that fits, in the forms in which tests send one. */
export interface SignedDelivery {
  /** Lower-case names: content type, event, signature. */
  readonly headers: Record<string, string>;
  /**
   * For supertest's `send`: a string where the bytes are UTF-8, else a Buffer, whose content type is then
   * `application/octet-stream`, since superagent would write a Buffer as JSON.
   */
  readonly body: string | Buffer;
  /** The bytes that are signed. */
  readonly rawBody: Buffer;
  /** The lower-case hex signature alone. */
  readonly signature: string;
  /** A Fetch Request, for Next.js and every Fetch host. */
  toRequest(url: string | URL): Request;
  /** For Fastify's `inject`. */
  toInject(url: string): InjectOptions;
  /** Sends it to a server. */
  send(url: string | URL): Promise<Response>;
}

/**
 * Makes a genuine delivery of the Payment Link Service (SERVICE.md section 6) for a test of a receiver.
 *
 * @throws TypeError when `secret` is empty: nothing genuine is signed with that.
 */
export function signedDelivery(options: SignedDeliveryOptions = {}): SignedDelivery {
  const { secret = TEST_SECRET, type = 'payment.succeeded', reference = 'order-42', payload, headers: names } = options;
  if (secret.length === 0) throw new TypeError('secret is empty');
  const rawBody = Buffer.from(options.rawBody ?? JSON.stringify({ reference, ...payload }));
  const signature = createHmac('sha256', secret).update(rawBody).digest('hex');
  const isText = isUtf8(rawBody);
  const headers = {
    'content-type': isText ? 'application/json' : 'application/octet-stream',
    [(names?.event ?? 'x-service-event').toLowerCase()]: type,
    [(names?.signature ?? 'x-service-signature').toLowerCase()]: signature,
  };
  const toRequest = (url: string | URL): Request => new Request(url, { method: 'POST', headers, body: new Uint8Array(rawBody) });
  return {
    headers,
    body: isText ? rawBody.toString('utf8') : rawBody,
    rawBody,
    signature,
    toRequest,
    toInject: (url) => ({ method: 'POST', url, headers, payload: rawBody }),
    send: (url) => fetch(toRequest(url)),
  };
}
