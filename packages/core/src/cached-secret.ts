import { check } from './errors.js';
import { validateBound, validateOptions } from './validate-options.js';
import {
  importSecrets,
  validateTenantSecret,
  type SecretProvider,
  type TenantSecret,
} from './secret.js';
import { withinBounds } from './time-limit.js';

export interface CachedSecretOptions<Host> {
  /**
   * Names the merchant, for example by the id in the path. Requests of one key share an answer: two
   * merchants must never have the same key, and a sender must not be able to vary it without end.
   */
  readonly key: (context: Host) => string;
  /** Milliseconds that an answer is shared. A secret changed in the portal stays in use for as long. */
  readonly ttl: number;
}

/** The cache drops its oldest answer beyond so many keys. */
const LIMIT = 1_000;
const LOAD_TIMEOUT = 5_000;

interface Answer {
  readonly secret: Promise<TenantSecret>;
  until: number;
}

/**
 * Makes a `secret` function that shares an answer of `load` between requests of one key, and calls
 * `load` once for all that wait. Failures, unusable secrets and answers over 5 seconds are not kept.
 *
 * @throws ConfigurationError that names the option
 */
export function cachedSecret<Host>(
  load: SecretProvider<Host>,
  options: CachedSecretOptions<Host>,
): (context: Host) => Promise<TenantSecret> {
  check(typeof load === 'function', 'load', 'must be a function');
  const { key, ttl } = validateOptions(options, ['key', 'ttl']);
  check(typeof key === 'function', 'key', 'must be a function');
  validateBound('ttl', ttl);
  const answers = new Map<string, Answer>();

  async function ask(context: Host): Promise<TenantSecret> {
    const loading = (async () => load(context))();
    const answer = await withinBounds(loading, { milliseconds: LOAD_TIMEOUT });
    // Here as well as in the receiver, so that an unusable secret is not kept.
    importSecrets(validateTenantSecret(answer).secret);
    return answer;
  }

  return async (context) => {
    const name: unknown = key(context);
    check(typeof name === 'string' && name !== '', 'key', 'must return a non-empty string');
    const known = answers.get(name);
    if (known !== undefined && performance.now() < known.until) return known.secret;

    const asked = performance.now();
    // A pending answer also expires: a Worker that cancels a request settles neither it nor a timer.
    const answer: Answer = { secret: ask(context), until: asked + Math.min(ttl, LOAD_TIMEOUT) };
    answers.delete(name);
    answers.set(name, answer);
    if (answers.size > LIMIT) answers.delete(answers.keys().next().value!);
    answer.secret.then(
      () => {
        answer.until = asked + ttl;
      },
      () => {
        if (answers.get(name) === answer) answers.delete(name);
      },
    );
    return answer.secret;
  };
}
