/** Connects the receiver to the diagnosis: logs why a signature failed. */
import { isProduction } from '../environment.js';
import type { Logger } from '../logger.js';
import type { SecretList } from '../secret.js';

/** A rejected signature. `rawBody` is missing if the receiver rejected the signature's form. */
export interface Refused {
  readonly rawBody?: Uint8Array;
  readonly signature: unknown;
  readonly secret?: SecretList;
}

/** Starts a diagnosis after the reply. */
export type Explain = (refused: Refused) => void;

/** Milliseconds between two diagnoses. A stranger can trigger them. */
const PAUSE = 1_000;

/** Returns undefined in production, where a stranger must not cause this work. */
export function createExplainer(logger: Logger): Explain | undefined {
  if (isProduction()) return undefined;
  const logged = new Set<string>();
  let quietUntil = 0;
  return (refused) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + PAUSE;
    // The module is larger than the receiver, so the first use loads it. The log already has the
    // refusal.
    import('#diagnose')
      .then(({ logCause }) => logCause(refused, logger, logged))
      .catch(() => undefined);
  };
}
