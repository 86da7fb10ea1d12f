import { HmacKey } from '#hmac';
import { settle } from './deadline.js';
import { check, fault } from './errors.js';
import { isProduction } from './environment.js';
import { warnOnce, type Logger } from './logger.js';
import { isBytes, isWellFormed } from './bytes.js';

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

type Warn = (message: string) => void;

/** The default of @paylink/testing, and the one of its documentation: public, so that any reader could sign. */
export const FIXTURES = ['paylink-testing-secret-not-for-production', 'the-secret-of-your-tests'];

/** Checks and copies the secret at set-up; of a function, what it gives for each delivery. */
export function createKeyring<Host>(option: SecretOption<Host>, logger: Logger): Keyring<Host> {
  if (typeof option !== 'function') {
    const keys = importSecrets(option, warnOnce(logger));
    return () => keys;
  }
  const warn = warnOnce(logger);
  return async (host) => {
    try {
      return importSecrets(await settle(() => option(host), { milliseconds: PROVIDER_TIMEOUT }), warn);
    } catch (cause) {
      throw fault('secret_unavailable', 'the function given as `secret` failed', cause);
    }
  };
}

/** Copies the secrets into keys. @throws ConfigurationError that names the fault, never the value. */
export function importSecrets(list: SecretList, warn?: Warn): readonly HmacKey[] {
  if (!Array.isArray(list)) return [importSecret(list, 'secret', warn)];
  check(list.length > 0 && list.length < 9, 'secret', 'must be a list of 1 to 8');
  return list.map((secret: Secret | undefined, index) => importSecret(secret, `secret[${index}]`, warn));
}

function importSecret(secret: unknown, option: string, warn?: Warn): HmacKey {
  const bytes = isBytes(secret) ? secret : new TextEncoder().encode(checkText(secret, option));
  check(bytes.length > 0, option, 'is empty: any sender could sign');
  const text = new TextDecoder().decode(bytes);
  // As in Buffer.from(String(process.env.WEBHOOK_SECRET)). Any other bytes are a key.
  check(!PLACEHOLDERS[0]!.test(text), option, PLACEHOLDER);
  if (isProduction()) {
    check(!FIXTURES.includes(text), option, 'is the public one of @paylink/testing: any of its readers could sign');
    if (bytes.length < 16) warn?.(`[paylink] ${option} is under 16 bytes, so it could be guessed`);
  }
  return new HmacKey(bytes);
}

/** What other services and tools write in front of a secret. */
const PREFIX = /^(whsec_|whsk_|v1,|base64:|hex:)/i;

const PLACEHOLDER = 'is a placeholder: how is it read from the environment?';

const PLACEHOLDERS: readonly RegExp[] = [
  // What is read from a variable that was never set, or stands in for a value that is still to come.
  /^(undefined|null|nan|\[object \w+\]|(change|replace)[-_ ]?(me|this)|placeholder|todo)$/i,
  // What documentation writes: your-webhook-secret, YOUR_SECRET_HERE, webhook_secret, a-secret-of-your-own.
  /^(?=.*[-_ ])((your|my|our|the|an?)[-_ ])?((paylink|payments?|webhooks?|signing)[-_ ])*(secret|key)([-_ ](key|here|value|goes here|of[-_ ]your[-_ ]own))*$/i,
  // <secret>, ${SECRET}, $SECRET, {{ secret }}, process.env.SECRET
  /^(<.*>|\$\{.*\}|\$[a-z_]+|\{\{.*\}\}|process\.env\..*)$/is,
  // Dots at the end of a secret that is shown in part; dots, stars or letters x alone.
  /(\.{3}|…)$|^[x*•]{3,}$/i,
];

/** Refuses what was never a webhook secret. Nothing is repaired: the portal's value, as it is, is the key. */
function checkText(secret: unknown, option: string): string {
  check(secret !== undefined && secret !== null, option, 'is missing: is WEBHOOK_SECRET set?');
  check(typeof secret === 'string', option, 'must be a string or a Uint8Array');
  const trimmed = secret.trim();
  check(trimmed !== '' || secret === '', option, 'is blank');
  check(trimmed === secret, option, 'must not start or end with whitespace: remove it where the secret is stored');
  const bare = secret.replace(PREFIX, '');
  check(bare !== '' || secret === '', option, 'is only the prefix of a secret: copy all of it from the merchant portal');
  check(!PLACEHOLDERS.some((form) => form.test(bare)), option, PLACEHOLDER);
  check(!secret.startsWith('sk_live_'), option, 'is an API key (sk_live_…): the merchant portal shows another value for webhooks');
  check(isWellFormed(secret), option, 'is not well-formed Unicode: pass its bytes');
  return secret;
}
