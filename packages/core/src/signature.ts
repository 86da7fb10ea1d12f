import { findMatch, HmacKey, sign as signBytes } from '#hmac';
import { WebhookError } from './errors.js';
import { importSecrets, isBytes, type Secret, type SecretList } from './secret.js';

const SHAPE = /^[0-9a-f]{64}$/;

/** Whether the value is spelt as a signature is: 64 lower-case hex digits, and nothing else. */
export function isSignature(value: unknown): value is string {
  // The length first, so that a long header costs nothing.
  return typeof value === 'string' && value.length === 64 && SHAPE.test(value);
}

/**
 * Signs a body as the service does: lower-case hexadecimal HMAC-SHA256 of the bytes (RFC 2104; SERVICE.md section 6). A string
 * stands for its UTF-8 bytes.
 *
 * @throws ConfigurationError when the secret is none.
 */
export async function sign(rawBody: Uint8Array | string, secret: Secret): Promise<string> {
  const [key] = importSecrets(secret);
  return signBytes(key!, typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : requireBytes(rawBody));
}

/**
 * Resolves when `signature` is the lower-case hex HMAC-SHA256 of exactly these bytes under the secret, or under one of the
 * secrets. There is no boolean to misread: anything else throws. Constant time over 32 bytes.
 *
 * @throws WebhookError `invalid_signature`, or `body_consumed` when `rawBody` is not bytes; ConfigurationError for a bad secret.
 */
export async function verifySignature(rawBody: Uint8Array, signature: unknown, secret: SecretList): Promise<void> {
  await matchSignature(importSecrets(secret), requireBytes(rawBody), requireSignature(signature));
}

/** The index of the key that signed. @throws WebhookError `invalid_signature`. */
export function matchSignature(keys: readonly HmacKey[], rawBody: Uint8Array, signature: string): number | Promise<number> {
  const match = findMatch(keys, rawBody, signature);
  return typeof match === 'number' ? requireMatch(match) : match.then(requireMatch);
}

/** @throws WebhookError `invalid_signature` for whatever has not the shape of a signature. */
export function requireSignature(value: unknown): string {
  if (!isSignature(value)) {
    throw new WebhookError('invalid_signature', {
      message: 'the signature header is absent, repeated or not 64 lower-case hex digits',
    });
  }
  return value;
}

/** @throws WebhookError `body_consumed`: what is not bytes went through a parser, and its bytes are lost. */
export function requireBytes(rawBody: unknown): Uint8Array {
  if (isBytes(rawBody)) return rawBody;
  throw new WebhookError('body_consumed', {
    message: 'the raw body must be a Uint8Array with the bytes as they were received: a parsed body, or a text, has other bytes',
  });
}

function requireMatch(match: number): number {
  if (match < 0) {
    throw new WebhookError('invalid_signature', {
      message:
        'the signature is not that of these bytes under a configured secret: another secret, or a body that was changed on its way',
    });
  }
  return match;
}
