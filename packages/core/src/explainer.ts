/** Logs why a signature does not match, for the developer of the receiver. Silent in production. */
import { isProduction } from './environment.js';
import type { Logger } from './logger.js';
import type { SecretList, SecretOption } from './secret.js';

export interface Explainer<Host> {
  /** The option to verify with: of a function it notes the answer, so that an explanation does not ask again. */
  readonly secret: SecretOption<Host>;
  /** Starts a diagnosis behind the reply, and logs its result once for each cause. Absent in production. */
  readonly explain?: (rawBody: Uint8Array, signature: string, host: Host) => void;
}

// In milliseconds, between two diagnoses of this process.
const PAUSE = 1_000;
// Some runtimes drop what a request has left behind, so that a diagnosis may never end.
const GIVEN_UP = 60_000;

// Of all receivers together: what a stranger can cause must not grow with their number.
let quietUntil = 0;

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
      if (given === undefined || performance.now() < quietUntil) return;
      quietUntil = performance.now() + GIVEN_UP;
      // Loaded when it is first needed, since it is larger than what verifies. The refusal itself is logged already: nothing is
      // lost where the diagnosis cannot be loaded or logged.
      import('#diagnose')
        .then(({ logCause }) => logCause({ rawBody, signature, secret: given }, logger, logged))
        .catch(() => undefined)
        .finally(() => (quietUntil = performance.now() + PAUSE));
    },
  };
}
