import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const FORM = /^sk_live_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Whether a key has the form of SERVICE.md section 5: `sk_live_`, an identifier, a dot, a secret part. */
export function isApiKey(value: unknown): value is string {
  return typeof value === 'string' && FORM.test(value);
}

export function generateApiKey(): string {
  return `sk_live_${randomBytes(6).toString('hex')}.${randomBytes(24).toString('base64url')}`;
}

/** Makes the check of a request's key: `Authorization: Bearer` where it is there, else `X-Api-Key`. In constant time. */
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

// Digests have one length, so that the comparison tells nothing of the key's.
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
