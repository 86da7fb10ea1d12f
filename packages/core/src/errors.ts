import { statusOfCode, type Refusal, type WebhookErrorCode } from './reply.js';

// Symbol.for, because an application can contain two copies of this package.
const BRAND = Symbol.for('@paylink/core:WebhookError');

/** Faults that every adapter finds while it reads a body. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['body_too_large', 'the body is larger than bodyLimit'],
  ['body_timeout', 'the body took longer than bodyTimeout'],
  ['incomplete_body', 'the sender disconnected before the body was complete'],
]);

export interface WebhookErrorOptions {
  /** The reply's status, 400 to 599. Default: a Paylink code's status, or 500 for other codes. */
  readonly status?: number | undefined;
  /**
   * The message for the merchant's log. It is never sent. Default: the code, or a sentence for
   * `body_too_large`, `body_timeout` and `incomplete_body`.
   */
  readonly message?: string | undefined;
  readonly cause?: unknown;
  /**
   * Milliseconds for the `Retry-After` header of a 503, sent as 1 to 86,400 whole seconds. Default:
   * 5,000, or 60,000 for `not_credited`.
   */
  readonly retryAfter?: number | undefined;
}

/**
 * The reason why a delivery was rejected. Branch on `code`, which is stable. A handler can throw a
 * WebhookError to choose the reply: `throw new WebhookError('unknown_order', { status: 503 })`.
 *
 * @throws ConfigurationError if the code is not 1 to 64 characters from `a-z`, `0-9` and `_`, the
 *   status is not 400 to 599, or `retryAfter` is not a finite number of 0 or more. An error with a
 *   2xx status would acknowledge an unhandled notification.
 */
export class WebhookError<Code extends string = WebhookErrorCode | (string & {})> extends Error {
  readonly code: Code;
  /** The status of the reply, 400 to 599. */
  readonly status: number;
  /** Milliseconds for the `Retry-After` header of a 503. */
  declare readonly retryAfter?: number;

  constructor(code: Code, options: WebhookErrorOptions = {}) {
    const own: WebhookErrorOptions = { __proto__: null, ...options } as object;
    const { status = statusOfCode(code) ?? 500, message = SENTENCES.get(code) ?? code } = own;
    const { cause, retryAfter } = own;
    super(message, cause === undefined ? undefined : { cause });
    check(isCode(code), 'code', 'must be 1 to 64 of a-z, 0-9 and _');
    check(isFailure(status), 'status', 'must be 400 to 599');
    this.code = code;
    this.status = status;
    if (retryAfter === undefined) return;
    check(isDelay(retryAfter), 'retryAfter', 'must be milliseconds, 0 or more');
    this.retryAfter = retryAfter;
  }
}
WebhookError.prototype.name = 'WebhookError';
Object.defineProperty(WebhookError.prototype, BRAND, { value: true });

/** Returns true for a valid WebhookError, even from another copy of this package. */
export function isWebhookError(error: unknown): error is WebhookError {
  return readRefusal(error) !== undefined;
}

/** Reads each field of a WebhookError once: a getter or a Proxy may change. */
export function readRefusal(error: unknown): Refusal | undefined {
  try {
    const fields = Object(error) as WebhookError & Record<symbol, unknown>;
    const { [BRAND]: brand, code, status } = fields;
    if (brand !== true || !isCode(code) || !isFailure(status)) return undefined;
    const retryAfter = Object.hasOwn(fields, 'retryAfter') ? fields.retryAfter : undefined;
    return { code, status, retryAfter: isDelay(retryAfter) ? retryAfter : undefined };
  } catch {
    return undefined;
  }
}

function isCode(code: unknown): boolean {
  return typeof code === 'string' && /^[a-z0-9_]{1,64}$/.test(code);
}

function isFailure(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) > 399 && (status as number) < 600;
}

function isDelay(milliseconds: unknown): milliseconds is number {
  return Number.isFinite(milliseconds) && (milliseconds as number) >= 0;
}

export function fault(code: WebhookErrorCode, message: string, cause?: unknown): WebhookError {
  return new WebhookError(code, { message, cause });
}

/** An invalid option or argument. The message contains its name, never its value. */
export class ConfigurationError extends TypeError {
  readonly code = 'misconfigured';
  /** The name of the invalid option or argument. */
  readonly option: string;

  constructor(option: string, problem: string) {
    super(`${option} ${problem}`);
    this.option = option;
  }
}
ConfigurationError.prototype.name = 'ConfigurationError';

export function check(condition: boolean, option: string, problem: string): asserts condition {
  if (!condition) throw new ConfigurationError(option, problem);
}
