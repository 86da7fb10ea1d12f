import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

// The same form as in @paylink/client, on which the emulator does not depend.
const FORM = /^sk_[a-z]+_[\x21-\x2d\x2f-\x7e]+\.[\x21-\x7e]+$/;

/**
 * Checks the form of an API key (docs/service.md 5.1): `sk_live_` or another word, an identifier, a
 * dot, a secret part.
 */
export function hasKeyForm(value: unknown): value is string {
  return typeof value === 'string' && FORM.test(value);
}

export function generateApiKey(): string {
  return `sk_live_${randomBytes(6).toString('hex')}.${randomBytes(24).toString('base64url')}`;
}

/**
 * Returns a check that compares a request's key in constant time. `Authorization: Bearer` wins over
 * `X-Api-Key`.
 */
export function createKeyCheck(apiKey: string): (headers: Headers) => boolean {
  const expected = digest(apiKey);
  return (headers) => {
    const given = keyOf(headers);
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function keyOf(headers: Headers): string | undefined {
  const authorization = headers.get('authorization');
  if (authorization !== null) return /^bearer +(\S+)$/i.exec(authorization)?.[1];
  return headers.get('x-api-key') ?? undefined;
}

// Digests have one length, so the comparison does not reveal the key's length.
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
