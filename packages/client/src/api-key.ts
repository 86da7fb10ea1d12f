import { check } from '@paylink/core';

/**
 * Checks the API key's form (docs/service.md 5.1): `sk_live_`, an identifier, a dot, a secret. Nothing is repaired. The
 * contract does not show keys other than live ones. `sk_<another word>_` is accepted, since a test key may have that form.
 *
 * @throws ConfigurationError that names the fault, never the value.
 */
export function readApiKey(apiKey: unknown): string {
  check(
    apiKey !== undefined && apiKey !== null && apiKey !== '',
    'apiKey',
    'is missing: is its environment variable set?',
  );
  check(typeof apiKey === 'string', 'apiKey', 'must be a string');
  check(apiKey.trim() !== '', 'apiKey', 'is blank');
  check(
    apiKey.trim() === apiKey,
    'apiKey',
    'must not start or end with whitespace: remove it where it is stored',
  );
  check(!/^bearer /i.test(apiKey), 'apiKey', 'must be the key alone: the client adds "Bearer"');
  check(
    apiKey.startsWith('sk_'),
    'apiKey',
    'has not the form sk_live_<id>.<secret>: is it the webhook secret? The portal has both',
  );
  const isWhole = /^sk_[a-z]+_[\x21-\x2d\x2f-\x7e]+\.[\x21-\x7e]+$/.test(apiKey);
  check(isWhole, 'apiKey', 'has not the form sk_live_<id>.<secret>: was it copied as a whole?');
  return apiKey;
}
