import { ConfigurationError, errorReply, logLine, readLogger, WebhookError } from '@paylink/core';
import type { Logger, Receiver } from '@paylink/core';

/**
 * Makes a receiver. If its secret is missing or invalid, returns a receiver that answers every request
 * with 500 `misconfigured` and says why in the log, once.
 *
 * @throws every other error of `make`
 */
export function orMissingSecret<
  Host extends { readonly request?: unknown; readonly req?: unknown },
>(options: { readonly logger?: Logger | undefined }, make: () => Receiver<Host>): Receiver<Host> {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ConfigurationError) || !error.option.startsWith('secret')) throw error;
    const logger = readLogger(options.logger);
    let isLogged = false;
    return {
      async receive(_delivery, { request, req }) {
        const route = pathOf((request ?? req) as { readonly url?: string });
        const line = logLine(500, error.code, `${error.message} The route ${route} reads it`);
        if (!isLogged) logger.error(line, { code: error.code, status: 500 });
        isLogged = true;
        return errorReply(new WebhookError('misconfigured'));
      },
    };
  }
}

function pathOf({ url = '' }: { readonly url?: string }): string {
  return URL.canParse(url, 'http://localhost') ? new URL(url, 'http://localhost').pathname : '';
}
