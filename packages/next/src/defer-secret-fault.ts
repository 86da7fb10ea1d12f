import { ConfigurationError, type Logger } from '@paylink/core';

/**
 * Makes a handler; where the secret is at fault, one that refuses every request instead. `next build` imports each route, and
 * the secrets of the server are not there.
 *
 * @param refusing makes the handler that refuses; it is given the means to log why, which logs once
 */
export function deferSecretFault<Handler>(
  options: { readonly logger?: Logger | undefined },
  create: () => Handler,
  refusing: (tell: () => void) => Handler,
): Handler {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof ConfigurationError) || !error.option.startsWith('secret')) throw error;
    const { logger = console } = options;
    let told = false;
    return refusing(() => {
      if (told) return;
      told = true;
      // In an async function, so that a logger that throws or rejects does not change the answer.
      const log = async (): Promise<void> => logger.error(`[paylink] 500 misconfigured: ${error.message}`);
      log().catch(() => undefined);
    });
  }
}
