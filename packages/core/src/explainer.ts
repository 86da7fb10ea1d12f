/** Logs why a signature does not match, for the developer of the receiver. Silent in production. */
import { isProduction } from './environment.js';
import type { Logger } from './logger.js';
import type { SecretList, SecretOption } from './secret.js';

export interface Explainer<Host> {
  /** The option to verify with: of a function it notes the answer, so that an explanation does not ask again. */
  readonly secret: SecretOption<Host>;
  /**
   * Starts a diagnosis behind the reply, and logs its result once for each cause. Absent in production.
   *
   * @param rawBody none where the signature's form was refused before the body was read
   */
  readonly explain?: (rawBody: Uint8Array | undefined, signature: unknown, host: Host) => void;
}

// In milliseconds, between two diagnoses of this process. A spelling alone takes no work worth the name.
const PAUSES = { body: 1_000, spelling: 20 };
// Some runtimes drop what a request has left behind, so that a diagnosis may never end.
const GIVEN_UP = 60_000;

// Of all receivers together: what a stranger can cause must not grow with their number.
const quietUntil = { body: 0, spelling: 0 };

/** In production nothing is kept of the secret here. */
export function createExplainer<Host>(secret: SecretOption<Host>, logger: Logger): Explainer<Host> {
  if (isProduction()) return { secret };
  const answers = new WeakMap<object, SecretList>();
  const logged = new Set<string>();

  return {
    secret:
      typeof secret === 'function'
        ? async (host) => {
            const answer = await secret(host);
            answers.set(Object(host) as object, answer);
            return answer;
          }
        : secret,
    explain(rawBody, signature, host) {
      const given = typeof secret === 'function' ? answers.get(Object(host) as object) : secret;
      const part = rawBody === undefined ? 'spelling' : 'body';
      if ((part === 'body' && given === undefined) || performance.now() < quietUntil[part]) return;
      quietUntil[part] = performance.now() + GIVEN_UP;
      // Loaded when it is first needed, since it is larger than what verifies. The refusal itself is logged already: nothing is
      // lost where the diagnosis cannot be loaded or logged.
      import('#diagnose')
        .then(({ logCause }) => logCause({ rawBody, signature, secret: given }, logger, logged))
        .catch(() => undefined)
        .finally(() => (quietUntil[part] = performance.now() + PAUSES[part]));
    },
  };
}
