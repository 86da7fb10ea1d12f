import { check } from './errors.js';
import { importSecrets, validateTenantSecret } from './secret.js';
import type { SecretProvider, TenantSecret } from './secret.js';
import { withinBounds } from './time-limit.js';
import { validateBound, validateOptions } from './validate-options.js';

export type CachedSecretOptions<Host> = {
  /** Returns a cache key that is unique per merchant, such as the id in the path. */
  readonly key: (context: Host) => string;
  /** Milliseconds for which requests share a result and a replaced secret stays valid. */
  readonly ttl: number;
};

/** Beyond this number of keys, the cache drops its oldest answer. */
const LIMIT = 1_000;
const LOAD_TIMEOUT = 5_000;

interface Answer {
  readonly secret: Promise<TenantSecret>;
  until: number;
}

/**
 * Creates a `secret` function that caches up to 1,000 results of `load`, one per key. While `load`
 * runs, requests with the same key wait for that call, for at most 5 seconds or a shorter `ttl`.
 * Never caches failures, invalid secrets or results that take over 5 seconds.
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
    // The receiver checks too, but the cache must not keep an invalid secret.
    importSecrets(validateTenantSecret(answer).secret);
    return answer;
  }

  return async (context) => {
    const name: unknown = key(context);
    check(typeof name === 'string' && name !== '', 'key', 'must return a non-empty string');
    const known = answers.get(name);
    if (known !== undefined && performance.now() < known.until) return known.secret;

    const asked = performance.now();
    // A pending answer expires too: a Worker never settles the promise of a cancelled request.
    const answer: Answer = { secret: ask(context), until: asked + Math.min(ttl, LOAD_TIMEOUT) };
    answers.delete(name);
    answers.set(name, answer);
    if (answers.size > LIMIT) answers.delete(answers.keys().next().value!);
    answer.secret.then(
      () => (answer.until = asked + ttl),
      () => answers.get(name) === answer && answers.delete(name),
    );
    return answer.secret;
  };
}
