import { statusOf, type WebhookErrorCode } from './reply.js';

// Symbol.for, because an application can contain two copies of this package (ESM and CJS, two
// versions).
const BRAND = Symbol.for('@paylink/core:WebhookError');

/**
 * Faults that every adapter finds while it reads a body. The messages are the same on each host.
 */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['body_too_large', 'the body is larger than bodyLimit'],
  ['body_timeout', 'the body took longer than bodyTimeout'],
  ['incomplete_body', 'the sender disconnected before the body was complete'],
]);

export interface WebhookErrorOptions {
  /** 400 to 599. Default: the status of a Paylink code, else 500. */
  readonly status?: number | undefined;
  /** For the merchant's log, never sent. Default: a sentence for body codes, else the code. */
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The reason for refusing a delivery. Branch on `code`, which is stable. The message is for people.
 *
 * Your handler may throw a WebhookError to choose the reply's code and status: `throw new
 * WebhookError('unknown_order', { status: 503 })`.
 *
 * @throws ConfigurationError if the code is not 1 to 64 of `a-z`, `0-9` and `_`, or the status is
 *   not 400 to 599. An error with status 2xx would acknowledge an unhandled notification.
 */
export class WebhookError<Code extends string = WebhookErrorCode | (string & {})> extends Error {
  readonly code: Code;
  readonly status: number;

  constructor(code: Code, options: WebhookErrorOptions = {}) {
    const own: WebhookErrorOptions = { __proto__: null, ...options } as object;
    const { status = statusOf(code) ?? 500, message = SENTENCES.get(code) ?? code, cause } = own;
    super(message, cause === undefined ? undefined : { cause });
    check(isCode(code), 'code', 'must be 1 to 64 of a-z, 0-9 and _');
    check(isFailure(status), 'status', 'must be 400 to 599');
    this.code = code;
    this.status = status;
  }
}
WebhookError.prototype.name = 'WebhookError';
Object.defineProperty(WebhookError.prototype, BRAND, { value: true });

/**
 * Returns true for a WebhookError, also from another copy of this package, for which `instanceof`
 * is false. Returns false if other code changed the error's code or status to an invalid value.
 */
export function isWebhookError(error: unknown): error is WebhookError {
  try {
    const {
      [BRAND]: brand,
      code,
      status,
    } = Object(error) as WebhookError & Record<symbol, unknown>;
    return brand === true && isCode(code) && isFailure(status);
  } catch {
    // A getter or a Proxy threw.
    return false;
  }
}

function isCode(code: unknown): boolean {
  return typeof code === 'string' && /^[a-z0-9_]{1,64}$/.test(code);
}

function isFailure(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) > 399 && (status as number) < 600;
}

/** Makes an error with one of Paylink's codes. */
export function fault(code: WebhookErrorCode, message: string, cause?: unknown): WebhookError {
  return new WebhookError(code, { message, cause });
}

/**
 * A mistake in the configuration, thrown at startup. The message names the option, never the value.
 */
export class ConfigurationError extends TypeError {
  readonly code = 'misconfigured';
  readonly option: string;

  constructor(option: string, problem: string) {
    super(`${option} ${problem}`);
    this.option = option;
  }
}
ConfigurationError.prototype.name = 'ConfigurationError';

/** @throws ConfigurationError unless the condition holds */
export function check(condition: boolean, option: string, problem: string): asserts condition {
  if (!condition) throw new ConfigurationError(option, problem);
}
