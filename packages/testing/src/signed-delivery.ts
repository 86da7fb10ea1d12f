/**
 * Deliveries as the service sends them. Signed here and not by @paylink/core, so that a fault of
 * core cannot hide.
 */
import { createHmac } from 'node:crypto';
import {
  contentTypeOf,
  headerNames,
  inForms,
  type DeliveryForms,
  type HeaderNameOptions,
} from './delivery-forms.js';

/** The default secret. It is public: @paylink/core refuses it under NODE_ENV=production. */
export const TEST_SECRET = 'paylink-testing-secret-not-for-production';

export interface SignedDeliveryOptions {
  /**
   * The webhook secret to sign with. A string stands for its UTF-8 bytes. Default `TEST_SECRET`.
   */
  readonly secret?: string | Uint8Array | undefined;
  /** The event kind of the event header. Default `payment.succeeded`. */
  readonly type?: string | undefined;
  /** The merchant's reference of the payment. Default `order-42`. */
  readonly reference?: string | undefined;
  /** More fields of the body, or another `reference`. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The whole body, in place of `reference` and `payload`: any bytes, also ones that are not JSON.
   */
  readonly rawBody?: string | Uint8Array | undefined;
  /** Other names of the two headers, as the receiver's option of the same name. */
  readonly headers?: HeaderNameOptions | undefined;
}

/**
 * A delivery with a signature that fits. Its headers have lower-case names: content type, event,
 * signature.
 */
export interface SignedDelivery extends DeliveryForms {
  /** The lower-case hex signature alone. */
  readonly signature: string;
}

/**
 * Makes a genuine delivery of the Payment Link Service (docs/service.md 6) for a test of a
 * receiver.
 *
 * @throws TypeError when `secret` is empty: nothing genuine is signed with that.
 */
export function signedDelivery(options: SignedDeliveryOptions = {}): SignedDelivery {
  const {
    secret = TEST_SECRET,
    type = 'payment.succeeded',
    reference = 'order-42',
    payload,
  } = options;
  const rawBody = Buffer.from(options.rawBody ?? JSON.stringify({ reference, ...payload }));
  const signature = signatureOf(rawBody, requireSecret(secret));
  const names = headerNames(options.headers);
  const headers = {
    'content-type': contentTypeOf(rawBody),
    [names.event]: type,
    [names.signature]: signature,
  };
  return { ...inForms(rawBody, headers), signature };
}

/** @throws TypeError when it is empty. */
export function requireSecret(secret: string | Uint8Array): string | Uint8Array {
  if (secret.length === 0) throw new TypeError('secret is empty');
  return secret;
}

/** The lower-case hex HMAC-SHA256 of the bytes. */
export function signatureOf(rawBody: Uint8Array, secret: string | Uint8Array): string {
  return createHmac('sha256', secret).update(rawBody).digest('hex');
}
