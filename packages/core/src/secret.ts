import { HmacKey } from '#hmac';
import { isBytes, isWellFormed, toText } from './bytes.js';
import { isProduction } from './environment.js';
import { check, fault } from './errors.js';
import type { Logger } from './logger.js';
import { describeGuarded } from './thrown.js';
import { withinBounds } from './time-limit.js';
import { validateOptions } from './validate-options.js';

/** The webhook secret from the merchant portal. A string stands for its UTF-8 bytes. */
export type Secret = string | Uint8Array;

/**
 * One secret, or up to 8 during a rotation, the current secret first. The type allows `undefined`,
 * so that you can pass `process.env.WEBHOOK_SECRET`. A missing secret throws at startup.
 */
export type SecretList = Secret | readonly (Secret | undefined)[] | undefined;

/** The secret of one delivery and its merchant. `tenant: null` if there is only one merchant. */
export type TenantSecret = {
  readonly secret: SecretList;
  readonly tenant: string | null;
};

/**
 * Returns the secret of one delivery together with its merchant. If the function fails, takes over
 * 5 seconds or returns an invalid secret, the reply is 503 `secret_unavailable`.
 */
export type SecretProvider<Host = unknown> = (host: Host) => TenantSecret | Promise<TenantSecret>;

export type SecretOption<Host = unknown> = SecretList | SecretProvider<Host>;

export interface Keys {
  readonly keys: readonly HmacKey[];
  readonly tenant: string | null;
  /** For the diagnosis. Undefined in production. */
  readonly secret: SecretList;
}

// Gives the keys at once if the secret is fixed.
export type Keyring = (host: unknown) => Keys | Promise<Keys>;

type Warn = (message: string) => void;

const PROVIDER_TIMEOUT = 5_000;

/** Validates and copies the secret at startup, or the function's answer for each delivery. */
export function createKeyring(option: SecretOption<never>, logger: Logger): Keyring {
  let hasWarned = false;
  const warn: Warn = (message) => {
    if (!hasWarned) logger.warn(message, { code: 'weak_secret' });
    hasWarned = true;
  };
  const keysOf = (secret: SecretList, tenant: string | null): Keys => ({
    keys: importSecrets(secret, warn),
    tenant,
    secret: isProduction() ? undefined : secret,
  });
  if (typeof option !== 'function') {
    const isGiven = option !== undefined && option !== null;
    check(isGiven, 'secret', 'is missing. Did you set WEBHOOK_SECRET?');
    const fixed = keysOf(option, null);
    return () => fixed;
  }
  const provide = option as SecretProvider;
  return async (host) => {
    try {
      const answer = (async () => provide(host))();
      const bounds = { milliseconds: PROVIDER_TIMEOUT };
      const { secret, tenant } = validateTenantSecret(await withinBounds(answer, bounds));
      return keysOf(secret, tenant);
    } catch (error) {
      const problem = `the function given as \`secret\` failed (${describeGuarded(error)})`;
      throw fault('secret_unavailable', problem);
    }
  };
}

/** @throws ConfigurationError unless the answer is `{ secret, tenant }` */
export function validateTenantSecret(answer: TenantSecret): TenantSecret {
  const isObject = typeof answer === 'object' && answer !== null;
  const isPair = isObject && !Array.isArray(answer) && !isBytes(answer);
  const problem = 'must return { secret, tenant }, with `tenant: null` for a single merchant';
  check(isPair, 'secret', problem);
  const own = validateOptions(answer, ['secret', 'tenant'], 'secret');
  const isTenant = own.tenant === null || (typeof own.tenant === 'string' && own.tenant !== '');
  check(isTenant, 'tenant', 'must be a non-empty string, or null for a single merchant');
  return own;
}

/** @throws ConfigurationError that names the fault, never the value */
export function importSecrets(list: SecretList, warn?: Warn): readonly HmacKey[] {
  if (!Array.isArray(list)) return [importSecret(list, 'secret', warn)];
  // `map` would skip the hole of a double comma. A Proxy may answer another length the next time.
  const secrets: unknown[] = Array.from(list as readonly unknown[]);
  const isList = secrets.length > 0 && secrets.length < 9;
  check(isList, 'secret', 'must be a list of 1 to 8 secrets');
  return secrets.map((secret, index) => importSecret(secret, `secret[${index}]`, warn));
}

function importSecret(secret: unknown, option: string, warn?: Warn): HmacKey {
  const isGiven = secret !== undefined && secret !== null;
  check(isGiven, option, 'is missing');
  const isUnicode = typeof secret !== 'string' || isWellFormed(secret);
  check(isUnicode, option, 'is not well-formed Unicode: pass its bytes');
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
  check(isBytes(bytes), option, 'must be a string or a Uint8Array');
  check(bytes.length > 0, option, 'is empty: any sender could sign');
  const text = toText(bytes) ?? '';
  // Any bytes can be a key. Printable text in a Buffer has the faults of a string.
  if (typeof secret === 'string' || PRINTABLE.test(text)) checkText(text, option);
  if (isProduction()) {
    const problem = 'is the public secret of @paylink/testing: any reader could sign';
    check(!FIXTURES.includes(text), option, problem);
    if (bytes.length < 16)
      warn?.(`[paylink] ${option} has fewer than 16 bytes: attackers could guess it`);
  }
  return new HmacKey(bytes);
}

/** Characters that people type, and the blanks at the end of a file. */
const PRINTABLE = /^[\P{C}\t\r\n\ufeff]+$/u;

/** The secrets of @paylink/testing and its documentation: everybody can sign with them. */
export const FIXTURES = ['paylink-testing-secret-not-for-production', 'the-secret-of-your-tests'];

/** Prefixes that other services and tools add to a secret. */
const PREFIX = /^(whsec_|whsk_|v1,|base64:|hex:)/i;

const PLACEHOLDERS: readonly RegExp[] = [
  // A variable that was never set.
  /^(undefined|null|nan|\[object \w+\]|(change|replace)[-_ ]?(me|this)|placeholder|todo)$/i,
  // From documentation: your-webhook-secret, YOUR_SECRET_HERE, webhook_secret,
  // a-secret-of-your-own.
  /^(?=.*[-_ ])((your|my|our|the|an?)[-_ ])?((paylink|payments?|webhooks?|signing)[-_ ])*(secret|key)([-_ ](key|here|value|goes here|of[-_ ]your[-_ ]own))*$/i,
  // <secret>, ${SECRET}, $SECRET, {{ secret }}, process.env.SECRET
  /^(<.*>|\$\{.*\}|\$[a-z_]+|\{\{.*\}\}|process\.env\..*)$/is,
  /^x{3,}$/i,
];

export const isPlaceholder = (text: string): boolean =>
  PLACEHOLDERS.some((form) => form.test(text));

export const isApiKey = (text: string): boolean => /^sk_(live|test)_/.test(text);

/** The dots or stars of a secret that a page masks. */
export const MASK = /[•…]|\.{3}|\*{3}/;

/** Rejects texts that were never a secret. Repairs none: the portal's value is the key. */
function checkText(secret: string, option: string): void {
  const trimmed = secret.trim();
  check(trimmed !== '', option, 'is blank');
  const whitespace = 'must not start or end with whitespace: remove it from the stored secret';
  check(trimmed === secret, option, whitespace);
  const bare = secret.replace(PREFIX, '');
  const prefix = 'is only the prefix of a secret: copy the whole secret from the portal';
  check(bare !== '', option, prefix);
  check(!MASK.test(bare), option, 'is masked: copy the whole secret from the merchant portal');
  const placeholder = 'is a placeholder. Check how your code reads the environment variable';
  check(!isPlaceholder(bare), option, placeholder);
  const apiKey = 'is an API key (sk_live_…): the portal shows another value for webhooks';
  check(!isApiKey(secret), option, apiKey);
}
