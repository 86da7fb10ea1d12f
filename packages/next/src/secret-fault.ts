import { ConfigurationError, errorReply, logLine, logQuietly, WebhookError, type Logger, type Reply } from '@paylink/core';

/**
 * Stands in place of a receiver whose secret is at fault, and refuses every request: `next build` imports each route, and the
 * secrets of the server are not there.
 */
export class SecretFault {
  readonly #error: ConfigurationError;
  readonly #logger: Logger;
  #isLogged = false;

  private constructor(error: ConfigurationError, logger: Logger) {
    this.#error = error;
    this.#logger = logger;
  }

  /** @throws what `make` throws, where that is not about the secret. */
  static or<Made>(options: { readonly logger?: Logger | undefined } | undefined, make: () => Made): Made | SecretFault {
    try {
      return make();
    } catch (error) {
      if (error instanceof ConfigurationError && error.option.startsWith('secret'))
        return new SecretFault(error, options?.logger ?? console);
      throw error;
    }
  }

  /** Logs why, once, with the path of the request, and the file that Next.js serves it from. */
  reply(url: string | undefined, fileOf: (path: string) => string): Reply {
    if (!this.#isLogged) {
      this.#isLogged = true;
      const { code, message } = this.#error;
      logQuietly(() => this.#logger.error(logLine(500, code, `${message}${whereOf(url, fileOf)}`)));
    }
    return errorReply(new WebhookError('misconfigured'));
  }
}

/** Which route it is. A rewrite or a dynamic segment may hide the file, so the path is said too. */
function whereOf(url: string | undefined, fileOf: (path: string) => string): string {
  if (url === undefined || !URL.canParse(url, 'http://localhost')) return '';
  const { pathname } = new URL(url, 'http://localhost');
  return ` The route of ${pathname} (${fileOf(pathname)}) reads it`;
}
