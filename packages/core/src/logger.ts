import { check } from './errors.js';
import { statusOf } from './reply.js';

declare const PAYLINK_ERRORS_PAGE: string | undefined;

/** The build replaces this name with the page's address; see tsup.config.base.ts. */
const ERRORS_PAGE =
  typeof PAYLINK_ERRORS_PAGE === 'string' ? PAYLINK_ERRORS_PAGE : 'docs/errors.md';

/** Facts of a log line, for structured loggers. */
export interface LogFields {
  readonly code: string;
  readonly status?: number | undefined;
  readonly reference?: string | undefined;
  readonly kind?: string | undefined;
}

/**
 * Gets warnings and failures for the merchant. Never gets a secret, a signature, a key or a body.
 */
export interface Logger {
  warn(message: string, fields?: LogFields): unknown;
  error(message: string, fields?: LogFields): unknown;
}

/**
 * Checks a logger, and wraps it so that logging never throws: a log line must not change a reply.
 * Without a logger, `console` gets only the message.
 *
 * @throws ConfigurationError
 */
export function createLogger(logger?: Logger): Logger {
  if (logger === undefined) {
    return {
      warn: (message) => logQuietly(() => console.warn(message)),
      error: (message) => logQuietly(() => console.error(message)),
    };
  }
  const isLogger = typeof logger?.warn === 'function' && typeof logger.error === 'function';
  check(isLogger, 'logger', 'must have the functions `warn` and `error`');
  return {
    warn: (message, fields) => logQuietly(() => logger.warn(message, fields)),
    error: (message, fields) => logQuietly(() => logger.error(message, fields)),
  };
}

/** Calls `log` and ignores its error, thrown or rejected. */
export function logQuietly(log: () => unknown): void {
  const logging = async (): Promise<unknown> => log();
  logging().catch(() => undefined);
}

/**
 * Formats the log line of a refusal: status, code, problem, and the address of the code's
 * explanation. A code of the merchant's own has no such address.
 *
 * @param message must not contain a secret, a signature, a key or a body
 */
export function logLine(status: number, code: string, message: string): string {
  const line = `[paylink] ${status} ${code}: ${message.replace(/\.$/, '')}`;
  return statusOf(code) === undefined ? line : `${line}. See ${ERRORS_PAGE}#${code}`;
}
