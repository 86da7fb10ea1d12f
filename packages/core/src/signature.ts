import { findMatch, HmacKey, sign as signBytes } from '#hmac';
import { fault } from './errors.js';
import { importSecrets, type Secret, type SecretList } from './secret.js';
import { isBytes } from './bytes.js';

/**
 * Signs a body as the service does: lower-case hexadecimal HMAC-SHA256 of the bytes (RFC 2104; docs/service.md 6.3). A string
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

/** @throws WebhookError `invalid_signature` for anything but 64 lower-case hex digits. */
export function requireSignature(value: unknown): string {
  // The length first, so that a long header costs nothing; an expression that counts takes twice the time.
  if (typeof value === 'string' && value.length === 64 && /^[0-9a-f]+$/.test(value)) return value;
  throw fault('invalid_signature', 'the signature header is absent, repeated or not 64 lower-case hex digits');
}

/** @throws WebhookError `body_consumed`: what is not bytes has been parsed, and the bytes are lost. */
export function requireBytes(rawBody: unknown): Uint8Array {
  if (isBytes(rawBody)) return rawBody;
  throw fault('body_consumed', 'the raw body must be a Uint8Array of the bytes as received, not the result of a parser');
}

function requireMatch(match: number): number {
  if (match >= 0) return match;
  throw fault('invalid_signature', 'the signature does not match: another secret, or the body was changed on its way');
}
