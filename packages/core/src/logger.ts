import { check, readRefusal } from './errors.js';
import { statusOfCode, type Refusal } from './reply.js';
import { describeThrown, escapeControls, stackOf } from './thrown.js';

declare const PAYLINK_ERRORS_PAGE: string | undefined;

// A release replaces the name with the page's address; see tsup.config.base.ts.
const ERRORS_PAGE = typeof PAYLINK_ERRORS_PAGE === 'string' ? PAYLINK_ERRORS_PAGE : undefined;

/** The fields of a log line, for structured loggers. */
export interface LogFields {
  readonly code: string;
  readonly status?: number | undefined;
  /** Truncated to 200 characters. */
  readonly reference?: string | undefined;
  readonly kind?: string | undefined;
  /**
   * A handler's error, a schema's error other than a WebhookError, or an error from payments with
   * its cause. Log only the stack, because an HTTP client's error can contain its API key. Loggers
   * from pino, Fastify and winston receive the field `stack` instead.
   */
  readonly error?: unknown;
}

/**
 * Receives warnings and failures. Paylink never logs a secret, signature, key or body, but an error
 * from your code can contain one. Loggers from pino and Fastify receive the fields first.
 */
export interface Logger {
  warn(message: string, fields?: LogFields): unknown;
  error(message: string, fields?: LogFields): unknown;
}

type Level = 'warn' | 'error';

/**
 * Wraps a logger so that logging never throws: a log line must not change a reply. Loggers from
 * pino, Fastify and winston receive the stack as text, in the form that each of them prints.
 *
 * @throws ConfigurationError
 */
export function createLogger(logger: Logger = CONSOLE): Logger {
  const isLogger = typeof logger?.warn === 'function' && typeof logger.error === 'function';
  check(isLogger, 'logger', 'must have the functions `warn` and `error`');
  const stackFor = createStacks();
  const write = (level: Level) => (message: string, fields?: LogFields) =>
    callQuietly(() => {
      if (logger !== CONSOLE && !isStructured(logger)) return logger[level](message, fields);
      const stack = stackFor(fields);
      if (logger === CONSOLE) {
        return logger[level](stack === undefined ? message : `${message}\n${stack}`);
      }
      // Not the error: the fields of an HTTP client's error can contain its API key.
      const entry = { ...fields, error: undefined, stack };
      if ('configure' in logger) return logger[level](message, entry as unknown as LogFields);
      return (logger as unknown as StructuredLogger)[level](entry, message);
    });
  return { warn: write('warn'), error: write('error') };
}

const CONSOLE: Logger = {
  warn: (message) => console.warn(message),
  error: (message) => console.error(message),
};

/** pino, Fastify and bunyan take the fields first. winston has `configure`, and takes them last. */
type StructuredLogger = Record<Level, (entry: object, message: string) => unknown>;

function isStructured(logger: object): boolean {
  return typeof (logger as { readonly child?: unknown }).child === 'function';
}

const MINUTE = 60_000;

/** Lets one line of each code through per minute. */
export class LineLimit {
  readonly #silences = new Map<string, { readonly until: number; readonly dropped: number }>();

  /** Returns the number of lines dropped since the last one, or undefined to drop this one too. */
  take(code: string): number | undefined {
    const now = performance.now();
    const { until, dropped } = this.#silences.get(code) ?? { until: 0, dropped: 0 };
    const isQuiet = now < until;
    const silence = isQuiet ? { until, dropped: dropped + 1 } : { until: now + MINUTE, dropped: 0 };
    this.#silences.set(code, silence);
    return isQuiet ? undefined : dropped;
  }
}

/**
 * Returns the stack of a handler's error. A WebhookError is an answer that somebody chose, so its
 * cause counts, once per code and minute: a database that is away fails each delivery.
 */
function createStacks(): (fields?: LogFields) => string | undefined {
  const limit = new LineLimit();
  return ({ error, code = '' }: Partial<LogFields> = {}) => {
    if (readRefusal(error) === undefined) return stackOf(error);
    const stack = stackOf(causeOf(error));
    return stack === undefined || limit.take(code) === undefined ? undefined : stack;
  };
}

function causeOf(error: unknown): unknown {
  try {
    return (error as Error).cause;
  } catch {
    return undefined;
  }
}

/** Calls the merchant's hook, and ignores its error, thrown or rejected. */
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
  const isOurs = ERRORS_PAGE !== undefined && statusOfCode(code) !== undefined;
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
