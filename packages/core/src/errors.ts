import { statusOf, type WebhookErrorCode } from './reply.js';

// Symbol.for, because an application can hold two copies of this package (ESM and CJS, two versions).
const BRAND = Symbol.for('@paylink/core:WebhookError');

/** Faults that every adapter finds while it reads a body, in the same words on each host. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['body_too_large', 'the body is larger than bodyLimit'],
  ['body_timeout', 'the body took longer than bodyTimeout'],
  ['incomplete_body', 'the sender went away before the body was complete'],
]);

export interface WebhookErrorOptions {
  /** 400 to 599. Default: the status of a Paylink code, else 500. */
  readonly status?: number | undefined;
  /** For the merchant's log, never sent. Default: a sentence for the codes of a body, else the code. */
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Says why a delivery was refused. Branch on `code`, which is stable. The message is for people.
 *
 * A handler may throw a WebhookError with its own code and status, and the sender gets both:
 * `throw new WebhookError('unknown_order', { status: 503 })`.
 *
 * @throws ConfigurationError if the code is not 1 to 64 of `a-z`, `0-9` and `_`, or the status is not
 * 400 to 599: an error that answered 2xx would acknowledge a notification that was not handled.
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
 * Whether `error` is a WebhookError, also of another copy of this package, for which `instanceof` is
 * false. An error whose code or status was changed to an invalid value is not a WebhookError.
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

/** Makes an error with a code of ours. */
export function fault(code: WebhookErrorCode, message: string, cause?: unknown): WebhookError {
  return new WebhookError(code, { message, cause });
}

/** A mistake in the configuration, thrown at startup. Names the option, never the value. */
export class ConfigurationError extends TypeError {
  readonly code = 'misconfigured';
  readonly option: string;

  constructor(option: string, problem: string) {
    super(`${option} ${problem}`);
    this.option = option;
  }
}
ConfigurationError.prototype.name = 'ConfigurationError';

/** @throws ConfigurationError unless the condition holds. */
export function check(condition: boolean, option: string, problem: string): asserts condition {
  if (!condition) throw new ConfigurationError(option, problem);
}
