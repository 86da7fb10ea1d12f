import { HmacKey } from '#hmac';
import { ConfigurationError, WebhookError } from './errors.js';
import { settle } from './deadline.js';
import type { Logger } from './options.js';

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

const MOST_SECRETS = 8;
const PROVIDER_TIMEOUT = 5_000;
const SHORT = 16;
const PLACEHOLDERS = new Set(['undefined', 'null', '[object object]', 'changeme']);

// The default of @paylink/testing: public, so whoever reads this file could sign with it.
const FIXTURE = 'paylink-testing-secret-not-for-production';

export function createKeyring<Host>(option: SecretOption<Host>, logger: Logger): Keyring<Host> {
  if (typeof option !== 'function') {
    const keys = importSecrets(option, logger);
    return () => keys;
  }
  return async (host) => {
    try {
      const list = await settle(
        async () => option(host),
        PROVIDER_TIMEOUT,
        () => new Error('gave no secret in 5 s'),
      );
      return importSecrets(list, logger);
    } catch (cause) {
      throw new WebhookError('secret_unavailable', { message: 'the function given as `secret` failed', cause });
    }
  };
}

/** Copies the secrets into keys. @throws ConfigurationError that names the fault, never the value. */
export function importSecrets(list: SecretList, logger?: Logger): readonly HmacKey[] {
  if (!Array.isArray(list)) return [importSecret(list as Secret | undefined, 'secret', logger)];
  if (list.length === 0) throw new ConfigurationError('secret', 'is an empty list: give at least one');
  if (list.length > MOST_SECRETS) throw new ConfigurationError('secret', `is a list of more than ${MOST_SECRETS}`);
  return list.map((secret: Secret | undefined, index) => importSecret(secret, `secret[${index}]`, logger));
}

function importSecret(secret: Secret | undefined, option: string, logger?: Logger): HmacKey {
  const bytes = toBytes(secret, option);
  if (bytes.length === 0) throw new ConfigurationError(option, 'is empty: anybody could sign with it');
  if (isProduction()) {
    if (sameBytes(bytes, FIXTURE)) {
      throw new ConfigurationError(option, 'is the public one of @paylink/testing: anybody could sign with it');
    }
    if (bytes.length < SHORT) logger?.warn(`[paylink] ${option} is shorter than ${SHORT} bytes: easier to guess than it should be`);
  }
  return new HmacKey(bytes);
}

function toBytes(secret: unknown, option: string): Uint8Array {
  if (isBytes(secret)) return secret;
  if (secret === undefined || secret === null) {
    throw new ConfigurationError(
      option,
      'is missing: pass the webhook secret of the merchant portal, and see that its environment variable is set',
    );
  }
  if (typeof secret !== 'string') throw new ConfigurationError(option, 'must be a string or a Uint8Array');
  const fault = faultOf(secret);
  if (fault !== undefined) throw new ConfigurationError(option, fault);
  return new TextEncoder().encode(secret);
}

/** What tells that a string was never a webhook secret. Nothing is repaired: the portal's value, as it is, is the key. */
function faultOf(secret: string): string | undefined {
  if (secret !== '' && secret.trim() === '') return 'is blank';
  if (secret !== secret.trim()) return 'has a blank or a line break at one end: remove it where the secret is stored';
  if (PLACEHOLDERS.has(secret.toLowerCase())) return 'is a placeholder, not a secret: see how it is read from the environment';
  if (secret.startsWith('sk_live_')) return 'is an API key (sk_live_…): the webhook secret is another value of the merchant portal';
  if (!isWellFormed(secret)) return 'is not well-formed Unicode: pass its bytes';
  return undefined;
}

export function isBytes(value: unknown): value is Uint8Array {
  // By the tag and not by instanceof: a test runner's realm has a Uint8Array of its own.
  return ArrayBuffer.isView(value) && (value as Uint8Array)[Symbol.toStringTag] === 'Uint8Array';
}

/** Whether the text has no lone surrogate, which UTF-8 cannot say and which would stand for other texts as well. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

function sameBytes(bytes: Uint8Array, text: string): boolean {
  return bytes.length === text.length && bytes.every((byte, index) => byte === text.charCodeAt(index));
}

export function isProduction(): boolean {
  return globalThis.process?.env?.['NODE_ENV'] === 'production';
}
