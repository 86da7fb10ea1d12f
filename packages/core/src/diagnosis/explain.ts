/** The one door between the receiver and the diagnosis: says in the log why a signature failed. */
import { isProduction } from '../environment.js';
import type { Logger } from '../logger.js';
import type { SecretList } from '../secret.js';

/** A refused signature. Without `rawBody` if its shape was refused before the body was read. */
export interface Refused {
  readonly rawBody?: Uint8Array;
  readonly signature: unknown;
  readonly secret?: SecretList;
}

/** Starts a diagnosis after the reply, and logs each cause once. */
export type Explain = (refused: Refused) => void;

/** Milliseconds between two diagnoses. The shape of a signature alone takes almost no work. */
const PAUSES = { body: 1_000, shape: 20 };
/** Some runtimes drop all work that a request leaves behind, so a diagnosis may never end. */
const GIVEN_UP = 60_000;

/** Returns undefined in production: a stranger must not cause this work. */
export function createExplainer(logger: Logger): Explain | undefined {
  if (isProduction()) return undefined;
  const logged = new Set<string>();
  const quietUntil = { body: 0, shape: 0 };
  return (refused) => {
    const step = refused.rawBody === undefined ? 'shape' : 'body';
    if (performance.now() < quietUntil[step]) return;
    quietUntil[step] = performance.now() + GIVEN_UP;
    const at = new Date();
    // Loaded on first use, because it is larger than the receiver. The refusal is already logged.
    import('#diagnose')
      .then(({ logCause }) => logCause({ ...refused, at }, logger, logged))
      .catch(() => undefined)
      .finally(() => {
        quietUntil[step] = performance.now() + PAUSES[step];
      });
  };
}
