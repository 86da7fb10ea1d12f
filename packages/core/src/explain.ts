/** Why a signature does not match, in the log of whoever is building this now. In production it is silent. */
import { isProduction } from './environment.js';
import type { Logger } from './logger.js';
import type { SecretOption } from './secret.js';

/** Starts to find out, and tells the log once for each cause. */
export type Explain = (rawBody: Uint8Array, signature: string, host: unknown) => void;

// It costs some hundred signatures, and a stranger can ask for it.
const PAUSE = 1_000;

/** Gives nothing in production, so that no secret is kept there but as a key. */
export function createExplain(secret: SecretOption, logger: Logger): Explain | undefined {
  if (isProduction()) return undefined;
  const told = new Set<string>();
  let quietUntil = 0;

  const explain = async (rawBody: Uint8Array, signature: string, host: unknown): Promise<void> => {
    // When it is first needed: what verifies is a third of its size.
    const { diagnose } = await import('#diagnose');
    const given = typeof secret === 'function' ? await secret(host) : secret;
    const { causes, message } = await diagnose({ rawBody, signature, secret: given });
    const found = causes.map(({ code }) => code).join();
    if (found === '' || told.has(found) || isProduction()) return;
    told.add(found);
    logger.warn(`[paylink] why the signature does not match: ${message.replaceAll('\n', ' ')}`);
  };

  return (rawBody, signature, host) => {
    if (performance.now() < quietUntil) return;
    quietUntil = Infinity;
    explain(rawBody, signature, host)
      // Where it cannot be loaded, or the secret's function fails, the refusal itself has been told.
      .catch(() => undefined)
      .finally(() => (quietUntil = performance.now() + PAUSE));
  };
}
