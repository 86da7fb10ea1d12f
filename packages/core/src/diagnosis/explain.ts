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

/** The pause after a diagnosis, in multiples of its length. Strangers can trigger this work. */
const PAUSE = 1_000;
/** Notifications are shorter. A stranger's longer body is not worth the work. */
const LIMITS = { body: 4_096, work: 1_000_000 };

/**
 * Logs each cause once. Returns undefined in production, where a stranger must not cause this work.
 */
export function createExplainer(logger: Logger): Explain | undefined {
  if (isProduction()) return undefined;
  const logged = new Set<string>();
  let quietUntil = 0;
  const log = async ({ rawBody, signature, secret }: Refused): Promise<void> => {
    // The module is larger than the receiver. The log already has the refusal.
    const { search, searchForm } = await import('#diagnose');
    const started = performance.now();
    const isRead = rawBody !== undefined;
    const { message, matches } = isRead
      ? await search({ rawBody, signature, secret }, LIMITS)
      : searchForm(signature);
    const ended = performance.now();
    quietUntil = ended + PAUSE * (ended - started);
    if (matches || logged.has(message)) return;
    logged.add(message);
    const length = isRead ? ` of ${rawBody.length} bytes` : '';
    const line = `[paylink] the signature of a delivery${length} does not match. ${message}`;
    logger.warn(line.replaceAll('\n', ' '), { code: 'invalid_signature', status: 401 });
  };
  return (refused) => {
    if (performance.now() < quietUntil) return;
    quietUntil = Infinity;
    log(refused).catch(() => undefined);
  };
}
