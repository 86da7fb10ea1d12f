import { HmacKey } from '#hmac';
import { settle } from './deadline.js';
import { check, fault } from './errors.js';
import { isProduction } from './environment.js';
import type { Logger } from './logger.js';
import { isBytes, isWellFormed } from './values.js';

/** The webhook secret of the merchant portal: a string stands for its UTF-8 bytes. */
export type Secret = string | Uint8Array;

/** One secret, or up to 8 during a rotation: the first is the current one. */
export type SecretList = Secret | readonly (Secret | undefined)[] | undefined;

/**
 * Gives the secret, or the list, for one delivery. It receives the host's context, so that a tenant's secret can be
 * chosen by the path. When it fails, hangs or gives none, the reply is 503 `secret_unavailable`.
 */
export type SecretProvider<Host = unknown> = (host: Host) => SecretList | Promise<SecretList>;

/** `undefined` is admitted, so that `process.env.WEBHOOK_SECRET` can be passed as it is; it throws at set-up. */
export type SecretOption<Host = unknown> = SecretList | SecretProvider<Host>;

/** The keys to check one delivery by. */
export type Keyring<Host> = (host: Host) => readonly HmacKey[] | Promise<readonly HmacKey[]>;

const PROVIDER_TIMEOUT = 5_000;

// The default of @paylink/testing: public, so whoever reads this file could sign with it.
const FIXTURE = 'paylink-testing-secret-not-for-production';

/** Checks and copies the secret at set-up; of a function, what it gives for each delivery. */
export function createKeyring<Host>(option: SecretOption<Host>, logger: Logger): Keyring<Host> {
  if (typeof option !== 'function') {
    const keys = importSecrets(option, logger);
    return () => keys;
  }
  return async (host) => {
    try {
      return importSecrets(await settle(() => option(host), { milliseconds: PROVIDER_TIMEOUT }), logger);
    } catch (cause) {
      throw fault('secret_unavailable', 'the function given as `secret` failed', cause);
    }
  };
}

/** Copies the secrets into keys. @throws ConfigurationError that names the fault, never the value. */
export function importSecrets(list: SecretList, logger?: Logger): readonly HmacKey[] {
  if (!Array.isArray(list)) return [importSecret(list, 'secret', logger)];
  check(list.length > 0 && list.length < 9, 'secret', 'must be a list of 1 to 8');
  return list.map((secret: Secret | undefined, index) => importSecret(secret, `secret[${index}]`, logger));
}

function importSecret(secret: unknown, option: string, logger?: Logger): HmacKey {
  const bytes = isBytes(secret) ? secret : new TextEncoder().encode(checkText(secret, option));
  check(bytes.length > 0, option, 'is empty, so anybody could sign with it');
  if (isProduction()) {
    const isFixture = new TextDecoder().decode(bytes) === FIXTURE;
    check(!isFixture, option, 'is the public one of @paylink/testing, so anybody could sign with it');
    if (bytes.length < 16) logger?.warn(`[paylink] ${option} is under 16 bytes, so it could be guessed`);
  }
  return new HmacKey(bytes);
}

/** Refuses what was never a webhook secret. Nothing is repaired: the portal's value, as it is, is the key. */
function checkText(secret: unknown, option: string): string {
  check(secret !== undefined && secret !== null, option, 'is missing: is its environment variable set?');
  check(typeof secret === 'string', option, 'must be a string or a Uint8Array');
  const trimmed = secret.trim();
  check(trimmed !== '' || secret === '', option, 'is blank');
  check(trimmed === secret, option, 'has a blank or a line break at one end: remove it where it is stored');
  const isPlaceholder = /^(undefined|null|changeme|\[object object\])$/i.test(secret);
  check(!isPlaceholder, option, 'is a placeholder: how is it read from the environment?');
  check(!secret.startsWith('sk_live_'), option, 'is an API key (sk_live_…): the portal has another value for webhooks');
  check(isWellFormed(secret), option, 'is no well-formed Unicode: pass its bytes');
  return secret;
}
