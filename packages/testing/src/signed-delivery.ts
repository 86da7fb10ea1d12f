/**
 * Creates deliveries as the service sends them. Signs without @paylink/core, so that a bug in core
 * cannot hide.
 */
import { createHmac } from 'node:crypto';
import { checkOptions } from './check-options.js';
import {
  contentTypeOf,
  headerNames,
  inForms,
  type DeliveryForms,
  type HeaderNameOptions,
} from './delivery-forms.js';

/** The default secret. It is public, and `@paylink/core` rejects it under NODE_ENV=production. */
export const TEST_SECRET = 'paylink-testing-secret-not-for-production';

/** The options of `signedDelivery`. */
export interface SignedDeliveryOptions {
  /** The webhook secret. A string is encoded as UTF-8. Default `TEST_SECRET`. */
  readonly secret?: string | Uint8Array | undefined;
  /** The event kind in the event header. Default `payment.succeeded`. */
  readonly type?: string | undefined;
  /** The merchant's payment reference. Default `order-42`. */
  readonly reference?: string | undefined;
  /** Other body fields, or a different `reference`. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /** The whole body, instead of `reference` and `payload`: any bytes, even if they are not JSON. */
  readonly rawBody?: string | Uint8Array | undefined;
  /** Custom names for the two headers, as in the receiver's option. */
  readonly headers?: HeaderNameOptions | undefined;
}

/**
 * A delivery with a valid signature. Its header names are lower-case: content type, event,
 * signature.
 */
export interface SignedDelivery extends DeliveryForms {
  /** The signature alone, in lower-case hex. */
  readonly signature: string;
}

const OPTIONS = ['secret', 'type', 'reference', 'payload', 'rawBody', 'headers'];

/**
 * Creates a delivery signed like one from the Payment Link Service (docs/service.md 6), to test a
 * receiver.
 *
 * @throws TypeError for an unknown option, or if `secret` is empty
 */
export function signedDelivery(options: SignedDeliveryOptions = {}): SignedDelivery {
  checkOptions(options, OPTIONS);
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

/** @throws TypeError if the secret is empty, or neither text nor bytes */
export function requireSecret(secret: string | Uint8Array): string | Uint8Array {
  if (typeof secret !== 'string' && !ArrayBuffer.isView(secret))
    throw new TypeError('secret must be a string or a Uint8Array');
  if (secret.length === 0) throw new TypeError('secret is empty');
  return secret;
}

/** Returns the lower-case hex HMAC-SHA256 of the bytes. */
export function signatureOf(rawBody: Uint8Array, secret: string | Uint8Array): string {
  return createHmac('sha256', secret).update(rawBody).digest('hex');
}
