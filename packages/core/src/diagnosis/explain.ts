/** Connects the receiver to the diagnosis: logs why a signature failed. */
import { isProduction } from '../environment.js';
import type { Logger } from '../logger.js';
import type { SecretList } from '../secret.js';

/** A body whose signature does not match. */
export interface Refused {
  readonly rawBody: Uint8Array;
  readonly signature: string;
  readonly secret: SecretList;
}

/** Starts a diagnosis after the reply. */
type Explain = (refused: Refused) => void;

/** The pause after a diagnosis, in multiples of its length. Strangers can trigger this work. */
const PAUSE = 1_000;
/** Notifications are shorter. A stranger's longer body is not worth the work. */
const LONGEST_BODY = 4_096;

/**
 * Logs each cause once. Returns undefined in production, where a stranger must not cause this work.
 */
export function createExplainer(logger: Logger): Explain | undefined {
  if (isProduction()) return undefined;
  const logged = new Set<string>();
  let quietUntil = 0;
  const log = async (refused: Refused): Promise<void> => {
    // The module is larger than the receiver. The log already has the refusal.
    const { diagnose } = await import('#diagnose');
    // The receiver is writing its reply.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const started = performance.now();
    const { message, matches } = await diagnose(refused);
    const ended = performance.now();
    quietUntil = ended + PAUSE * (ended - started);
    if (matches || logged.has(message)) return;
    logged.add(message);
    const length = refused.rawBody.length;
    const line = `[paylink] the signature of a delivery of ${length} bytes does not match. ${message}`;
    logger.warn(line, { code: 'invalid_signature', status: 401 });
  };
  return (refused) => {
    if (refused.rawBody.length > LONGEST_BODY || performance.now() < quietUntil) return;
    quietUntil = Infinity;
    log(refused).catch(() => undefined);
  };
}
