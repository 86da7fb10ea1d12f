import { findMatch, sign as signBytes } from '#hmac';
import { isBytes } from './bytes.js';
import type { Explain } from './diagnosis/explain.js';
import { fault } from './errors.js';
import { importSecrets, type Secret, type SecretList } from './secret.js';

/**
 * Signs a body as the service does. Resolves with the lower-case hexadecimal HMAC-SHA256 of the
 * bytes (RFC 2104, docs/service.md 6). A string is encoded as UTF-8.
 *
 * @throws ConfigurationError if the secret is missing or invalid
 * @throws WebhookError `body_consumed` if `rawBody` is neither text nor bytes
 */
export async function sign(rawBody: Uint8Array | string, secret: Secret): Promise<string> {
  const bytes = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  const [key] = importSecrets(secret);
  return signBytes(key!, requireBytes(bytes));
}

/**
 * Resolves if `signature` is the lower-case hex HMAC-SHA256 of exactly these bytes under one of the
 * secrets. Otherwise throws, so that callers cannot ignore a failure. Compares in constant time.
 *
 * @throws WebhookError `invalid_signature`, or `body_consumed` if `rawBody` is not bytes
 * @throws ConfigurationError if the secret is missing or invalid
 */
export async function verifySignature(
  rawBody: Uint8Array,
  signature: unknown,
  secret: SecretList,
): Promise<void> {
  const keys = importSecrets(secret);
  const match = await findMatch(keys, requireBytes(rawBody), requireSignature(signature));
  if (match < 0) throw mismatch();
}

/** @throws WebhookError `invalid_signature` unless the value is 64 lower-case hex digits */
export function requireSignature(value: unknown, explain?: Explain): string {
  // Checks the length first, so that a long header costs nothing.
  if (typeof value === 'string' && value.length === 64 && /^[0-9a-f]+$/.test(value)) return value;
  explain?.({ signature: value });
  const problem = 'the signature header is absent, repeated or not 64 lower-case hex digits';
  throw fault('invalid_signature', problem);
}

/** @throws WebhookError `body_consumed` if a parser read the body, so the bytes are lost */
export function requireBytes(rawBody: unknown): Uint8Array {
  if (isBytes(rawBody)) return rawBody;
  const problem = 'the raw body must be a Uint8Array of the received bytes, not a parsed value';
  throw fault('body_consumed', problem);
}

export function mismatch(): Error {
  const problem =
    'the signature does not match: the secret is wrong, or the body changed in transit';
  return fault('invalid_signature', problem);
}
