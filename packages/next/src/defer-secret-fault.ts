import { ConfigurationError, logLine, type Logger } from '@paylink/core';

/**
 * Makes a handler; where the secret is at fault, one that refuses every request instead. `next build` imports each route, and
 * the secrets of the server are not there.
 *
 * @param refusing makes the handler that refuses; it is given the means to log why, once, with the path of the request and the file
 * that Next.js serves it from
 */
export function deferSecretFault<Handler>(
  options: { readonly logger?: Logger | undefined },
  create: () => Handler,
  refusing: (tell: (url: string | undefined, fileOf: (path: string) => string) => void) => Handler,
): Handler {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof ConfigurationError) || !error.option.startsWith('secret')) throw error;
    const { logger = console } = options;
    let told = false;
    return refusing((url, fileOf) => {
      if (told) return;
      told = true;
      // In an async function, so that a logger that throws or rejects does not change the answer.
      const log = async (): Promise<void> => logger.error(logLine(500, error.code, `${error.message}${whereOf(url, fileOf)}`));
      log().catch(() => undefined);
    });
  }
}

/** Which route it is. A rewrite or a dynamic segment may hide the file, so the path is said too. */
function whereOf(url: string | undefined, fileOf: (path: string) => string): string {
  if (url === undefined || !URL.canParse(url, 'http://localhost')) return '';
  const { pathname } = new URL(url, 'http://localhost');
  return ` The route of ${pathname} (${fileOf(pathname)}) reads it`;
}
