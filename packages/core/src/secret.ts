import { HmacKey } from '#hmac';
import { isBytes, isWellFormed, toText } from './bytes.js';
import { isProduction } from './environment.js';
import { check, fault } from './errors.js';
import type { Eventual } from './eventual.js';
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

/** The secret of a delivery and its merchant. `tenant` is `null` if there is only one merchant. */
export type TenantSecret = {
  readonly secret: SecretList;
  readonly tenant: string | null;
};

/**
 * Returns the secret of one delivery together with its merchant. If the function fails, takes over
 * 5 seconds or returns an invalid result, the reply is 503 `secret_unavailable`.
 */
export type SecretProvider<Host = unknown> = (host: Host) => TenantSecret | Promise<TenantSecret>;

export type SecretOption<Host = unknown> = SecretList | SecretProvider<Host>;

export interface Keys {
  readonly keys: readonly HmacKey[];
  readonly tenant: string | null;
  /** For the diagnosis. Undefined in production. */
  readonly secret: SecretList;
}

// Returns the keys immediately if the secret is fixed.
export type Keyring = (host: unknown) => Eventual<Keys>;

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

/** @throws ConfigurationError that names the problem, never the value */
export function importSecrets(list: SecretList, warn?: Warn): readonly HmacKey[] {
  if (!Array.isArray(list)) return [importSecret(list, 'secret', warn)];
  // `map` would skip the hole of a double comma. A Proxy may return another length next time.
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
    const problem = 'is the public secret from @paylink/testing: anybody could sign with it';
    check(!FIXTURES.includes(text), option, problem);
    if (bytes.length < 16)
      warn?.(`[paylink] ${option} has fewer than 16 bytes: attackers could guess it`);
  }
  return new HmacKey(bytes);
}

/** Characters that people type or copy, and the blanks at the end of a file. */
const PRINTABLE = /^[\P{C}\p{Cf}\t\r\n]+$/u;

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
  /^x{3,}$/i,
  // Variables and references to a secret store that nothing has replaced with a value:
  // <secret>, ${SECRET}, $(SECRET), $SECRET, $env:SECRET, {{ secret }}, {SECRET}, #{SECRET}#
  /^(<.*>|\$\{.*\}|\$\(.*\)|\$(env:)?[a-z_]+|\{\{.*\}\}|\{[a-z_]\w*\}|#\{.*\}#?)$/is,
  // $SECRET_2, %SECRET%, __SECRET__, @SECRET, !secret name, !Ref name
  /^([$@][A-Z_][A-Z0-9_]*|%\w+%|__\w+__|![\w:]+ .*)$/s,
  /^(process\.env|import\.meta\.env|(Deno|Bun)\.env|os\.environ|ENV)\b/,
  // op://vault/item, sm://…, file:///run/secrets/webhook, also a URL that was copied instead
  /^[a-z][a-z0-9+.-]*:\/\//i,
  /^(arn|aws|gcp|env|file|vault|ref|secret|secretref|ssm|kms|sops|keyvault|secretsmanager|op|doppler):/i,
  /^@Microsoft\.KeyVault\(|^projects\/[^/]+\/secrets\/|^ENC\[|^AQICAH|^\/(run|etc|mnt|var)\/|^[a-z]:\\/i,
];

/** The text of another kind of value: a line of a file, a header, a key in PEM. */
const LINES: readonly RegExp[] = [
  /^((export|set)\s+|\$env:)?[A-Z][A-Z0-9]*_[A-Z0-9_]+(\s*=\s*[^=\s]|:)/,
  /^((export|set)\s+)?\w*(secret|key|token|password|webhook)\w*(\s*=\s*[^=\s]|:\s)/i,
];
const QUOTED = /^(["'`].*["'`]|[“”„«‘].*[“”»’]|\[.*["'].*\]|\{.*["'].*\})[,;]?$/s;
const OTHER = /^((bearer|basic)\s|-----BEGIN )/i;
/** Zero-width spaces, soft hyphens and marks of direction, which a page adds to copied text. */
const INVISIBLE = /\p{Cf}/u;

/** Words that stand for a secret in examples, tests and lists of frequent passwords. */
const WORDS =
  /(?:development|placeholder|passphrase|production|undefined|payments?|webhooks?|password|replace|paylink|signing|secrets?|testing|staging|example|default|change|insert|tokens?|sample|qwerty|super|enter|value|whsec|local|dummy|unset|false|hello|admin|x{3,}|your|with|this|here|goes|hook|keys?|pass|test|prod|demo|null|none|true|todo|n\/a|the|our|own|top|add|put|set|dev|nil|tbd|foo|bar|baz|abc|xyz|an|my|of|me|it|a)/gi;

/** Returns true if nothing but such words, few digits and punctuation is left. */
const isGuessable = (text: string): boolean =>
  text.length <= 64 && /^[\W_]*\d{0,8}[\W_]*$/.test(text.replace(WORDS, ''));

export const isPlaceholder = (text: string): boolean =>
  PLACEHOLDERS.some((form) => form.test(text));

export const isApiKey = (text: string): boolean => /^[prs]k_(live|test)_/.test(text);

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
  check(!INVISIBLE.test(secret), option, 'has an invisible character: copy the secret again');
  check(!QUOTED.test(secret), option, 'is in quotes or JSON: store the secret without them');
  const separator = 'ends with a comma or semicolon, like a value in a list: store only the value';
  check(!/[,;]$/.test(secret), option, separator);
  const line = 'begins with its own name, like a line of a .env file: store only the value';
  check(!LINES.some((form) => form.test(secret)), option, line);
  check(!OTHER.test(secret), option, 'is another kind of key: the portal shows the webhook secret');
  const guessable = 'is a word that anybody can guess: copy the secret from the portal';
  check(!isProduction() || !isGuessable(bare), option, guessable);
  const apiKey = 'is an API key (sk_live_…): the portal shows another value for webhooks';
  check(!isApiKey(secret), option, apiKey);
}
