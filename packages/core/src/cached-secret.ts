import { withinBounds } from './deadline.js';
import { check } from './errors.js';
import { checkNames, readBound } from './option-checks.js';
import { importSecrets, type SecretList } from './secret.js';

export interface CachedSecretOptions<Host> {
  /**
   * Names whose secret it is, such as the merchant's id of the path. Requests of one key share an answer: two merchants must
   * never have the same. Not a text that a sender can vary without end.
   */
  readonly key: (context: Host) => string;
  /** Milliseconds for which an answer is shared: a secret that was changed in the portal is used for as long. */
  readonly ttl: number;
}

/** Past so many keys the oldest answer is dropped. */
const LIMIT = 1_000;
const LOAD_TIMEOUT = 5_000;

/**
 * Makes a function for `secret` that shares an answer of `load` between requests of one key, and asks it once for all that
 * wait. It is the only way in which an answer is shared: a function that is given as `secret` itself is asked for each request.
 * A failure, a secret that cannot be used and an answer that takes more than 5 seconds are not kept.
 *
 * @param load gives the secret, or the list of a rotation, sync or async
 * @throws ConfigurationError that names the option
 */
export function cachedSecret<Host>(
  load: (context: Host) => SecretList | Promise<SecretList>,
  options: CachedSecretOptions<Host>,
): (context: Host) => Promise<SecretList> {
  check(typeof load === 'function', 'load', 'must be a function');
  checkNames(options, ['key', 'ttl']);
  const { key, ttl } = options;
  check(typeof key === 'function', 'key', 'must be a function');
  readBound('ttl', ttl);
  const answers = new Map<string, { readonly answer: Promise<SecretList>; until: number }>();

  async function ask(context: Host): Promise<SecretList> {
    const loading = (async () => load(context))();
    const secret = await withinBounds(loading, { milliseconds: LOAD_TIMEOUT });
    // Refused here as well, so that what cannot be used is not kept.
    importSecrets(secret);
    return secret;
  }

  return async (context) => {
    const name: unknown = key(context);
    check(typeof name === 'string' && name !== '', 'key', 'must give a string that is not empty');
    const known = answers.get(name);
    if (known !== undefined && performance.now() < known.until) return known.answer;

    const asked = performance.now();
    // Until it is there, no longer than it may take: where a Worker's request is cancelled, its answer never comes, nor its timer.
    const entry = { answer: ask(context), until: asked + Math.min(ttl, LOAD_TIMEOUT) };
    answers.delete(name);
    answers.set(name, entry);
    if (answers.size > LIMIT) answers.delete(answers.keys().next().value!);
    entry.answer.then(
      () => {
        entry.until = asked + ttl;
      },
      () => {
        if (answers.get(name) === entry) answers.delete(name);
      },
    );
    return entry.answer;
  };
}
