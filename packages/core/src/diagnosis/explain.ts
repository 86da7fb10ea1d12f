/** Connects the receiver to the diagnosis: logs why a signature failed. */
import { isProduction } from '../environment.js';
import type { Logger } from '../logger.js';
import type { SecretList } from '../secret.js';

/** A rejected signature. `rawBody` is missing if the receiver rejected the signature's form. */
export interface Refused {
  readonly rawBody?: Uint8Array;
  readonly signature: unknown;
  readonly secret?: SecretList;
  readonly at: Date;
}

/** Starts a diagnosis after the reply. Logs each cause once. */
export type Explain = (refused: Omit<Refused, 'at'>) => void;

/** Milliseconds between two diagnoses. Checking the form of a signature takes almost no work. */
const PAUSES = { body: 1_000, shape: 20 };
/** Milliseconds until the next diagnosis, if a runtime dropped the last one behind its reply. */
const GIVEN_UP = 60_000;

/** Returns undefined in production, where a stranger must not cause this work. */
export function createExplainer(logger: Logger): Explain | undefined {
  if (isProduction()) return undefined;
  const logged = new Set<string>();
  const quietUntil = { body: 0, shape: 0 };
  return (refused) => {
    const step = refused.rawBody === undefined ? 'shape' : 'body';
    if (performance.now() < quietUntil[step]) return;
    quietUntil[step] = performance.now() + GIVEN_UP;
    const at = new Date();
    // The module is larger than the receiver, so the first use loads it. The log already has the
    // refusal.
    import('#diagnose')
      .then(({ logCause }) => logCause({ ...refused, at }, logger, logged))
      .catch(() => undefined)
      .finally(() => {
        quietUntil[step] = performance.now() + PAUSES[step];
      });
  };
}
