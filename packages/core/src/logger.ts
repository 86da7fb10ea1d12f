import { check, readRefusal } from './errors.js';
import { statusOf, type Refusal } from './reply.js';
import { describeThrown, escapeControls, stackOf } from './thrown.js';

declare const PAYLINK_ERRORS_PAGE: string | undefined;

// A release replaces the name with the page's address; see tsup.config.base.ts.
const ERRORS_PAGE = typeof PAYLINK_ERRORS_PAGE === 'string' ? PAYLINK_ERRORS_PAGE : undefined;

/** Facts of a log line, for structured loggers. */
export interface LogFields {
  readonly code: string;
  readonly status?: number | undefined;
  /** Cut after 200 characters. */
  readonly reference?: string | undefined;
  readonly kind?: string | undefined;
  /** The value that a handler threw. */
  readonly error?: unknown;
}

/** Gets warnings and failures. Never gets a secret, a signature, a key or a body. */
export interface Logger {
  warn(message: string, fields?: LogFields): unknown;
  error(message: string, fields?: LogFields): unknown;
}

/**
 * Wraps a logger so that logging never throws: a log line must not change a reply.
 *
 * @throws ConfigurationError
 */
export function createLogger(logger: Logger = CONSOLE): Logger {
  const isLogger = typeof logger?.warn === 'function' && typeof logger.error === 'function';
  check(isLogger, 'logger', 'must have the functions `warn` and `error`');
  return {
    warn: (message, fields) => callQuietly(() => logger.warn(message, fields)),
    error: (message, fields) => callQuietly(() => logger.error(message, fields)),
  };
}

// Gets an error's stack as text, because the fields of an HTTP client's error contain its API key.
const CONSOLE: Logger = {
  warn: (message, fields) => console.warn(withStack(message, fields)),
  error: (message, fields) => console.error(withStack(message, fields)),
};

/** A WebhookError is an answer that somebody chose, so the place of its `throw` says nothing. */
function withStack(message: string, { error }: Partial<LogFields> = {}): string {
  const stack = readRefusal(error) === undefined ? stackOf(error) : undefined;
  return stack === undefined ? message : `${message}\n${stack}`;
}

/** Calls a hook of the merchant, and ignores its error, thrown or rejected. */
export function callQuietly(hook: () => unknown): void {
  const calling = async (): Promise<unknown> => hook();
  calling().catch(() => undefined);
}

/** The order of a log line. */
export interface LogSubject {
  readonly reference: string;
  /** The caller, such as `settle`. */
  readonly source?: string | undefined;
}

/**
 * Formats the log line of a failure. Never throws.
 *
 * @param thrown its message must not contain a secret, a signature, a key or a body. A value that
 *   is not a WebhookError counts as 500 `handler_failed`
 */
export function logLine(
  thrown: unknown,
  subject?: LogSubject,
  { status, code } = refusalOf(thrown),
): string {
  const line = `[paylink] ${status} ${code}: ${named(subject)}${describeThrown(thrown)}`;
  const isOurs = ERRORS_PAGE !== undefined && statusOf(code) !== undefined;
  return isOurs ? `${line}. See ${ERRORS_PAGE}#${code}` : line;
}

export function refusalOf(thrown: unknown): Refusal {
  return readRefusal(thrown) ?? { code: 'handler_failed', status: 500 };
}

/** Quotes the reference, which is the merchant's own and can contain line breaks. */
function named(subject: LogSubject | undefined): string {
  if (subject === undefined) return '';
  const order = escapeControls(JSON.stringify(cutReference(subject.reference)));
  return subject.source === undefined ? `${order}: ` : `${subject.source} of ${order}: `;
}

// A reference can be as long as the body.
const LONGEST_REFERENCE = 200;

export function cutReference(reference: string): string {
  return reference.slice(0, LONGEST_REFERENCE);
}
