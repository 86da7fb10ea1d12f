import { check, ConfigurationError, isWebhookError } from './errors.js';
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

/** Names the order of a log line. */
export interface LogSubject {
  readonly reference: string;
  /** The caller, such as `settle`. */
  readonly source?: string | undefined;
}

/**
 * Formats the log line of a failure: status, code, order, message, cause, and the address of the
 * code's explanation. A code of the merchant's own has no such address. An error that is not a
 * WebhookError counts as 500 `handler_failed`.
 *
 * @param error an error that `hostError` made safe. Its message must not contain a secret, a
 *   signature, a key or a body
 */
export function logLine(error: Error, subject?: LogSubject): string {
  const { status, code } = statusAndCode(error);
  const line = `[paylink] ${status} ${code}: ${named(subject)}${textOf(error, code)}`;
  return statusOf(code) === undefined ? line : `${line}. See ${ERRORS_PAGE}#${code}`;
}

/** Returns the status and code of a WebhookError, and 500 `handler_failed` for other errors. */
export function statusAndCode(error: Error): { readonly status: number; readonly code: string } {
  return isWebhookError(error) ? error : { status: 500, code: 'handler_failed' };
}

/** Quotes the reference, which is the merchant's own and can contain line breaks. */
function named(subject: LogSubject | undefined): string {
  if (subject === undefined) return '';
  const { reference, source } = subject;
  const order = JSON.stringify(reference.slice(0, 200));
  return source === undefined ? `${order}: ` : `${source} of ${order}: `;
}

/**
 * Returns the message and the cause in one line. Some values in a handler's error may be
 * unreadable.
 */
function textOf(error: Error, code: string): string {
  try {
    const { message }: { readonly message: unknown } = error;
    return `${String(message).replace(/\.$/, '')}${causeOf(error, code)}`.replace(/\s+/g, ' ');
  } catch {
    return 'an error that cannot be read';
  }
}

function causeOf({ cause }: Error, code: string): string {
  if (!(cause instanceof Error)) return '';
  // An error of the `secret` function can quote the secret. Paylink's messages never quote secrets.
  const isQuiet = code === 'secret_unavailable' && !(cause instanceof ConfigurationError);
  return isQuiet ? ` (${cause.name})` : ` (${cause.name}: ${cause.message})`;
}
