import { statusOf, type WebhookErrorCode } from './reply.js';

// Symbol.for, because an application can hold two copies of this package (ESM and CJS, or two versions).
const BRAND = Symbol.for('@paylink/core:WebhookError');

export interface WebhookErrorOptions {
  /** 400 to 599. Default: the status of a code of ours, else 500. */
  readonly status?: number | undefined;
  /** For the merchant's log; never sent. */
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Says why a delivery was refused. Branch on `code`, which is stable; the message is for people.
 *
 * A handler may throw one with a code and a status of its own, and that is what the sender gets:
 * `throw new WebhookError('unknown_order', { status: 503 })`.
 *
 * @throws ConfigurationError when the code is not `[a-z0-9_]`, 1 to 64, or the status not 400 to 599.
 */
export class WebhookError<Code extends string = WebhookErrorCode | (string & {})> extends Error {
  readonly code: Code;
  readonly status: number;

  constructor(code: Code, { status = statusOf(code) ?? 500, message = code, cause }: WebhookErrorOptions = {}) {
    // A message of another's error can quote a body; so a cause hangs on, but is not looked at.
    super(message, cause === undefined ? undefined : { cause });
    if (!/^[a-z0-9_]{1,64}$/.test(code)) throw new ConfigurationError('code', 'must be 1 to 64 of a-z, 0-9 and _');
    // An error that answered 2xx would acknowledge what was not done.
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new ConfigurationError('status', 'of a WebhookError must be 400 to 599');
    }
    this.code = code;
    this.status = status;
  }

  static {
    Object.defineProperty(this.prototype, 'name', { value: 'WebhookError', configurable: true, writable: true });
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }
}

/** Whether `error` is a WebhookError, also one of another copy of this package, where `instanceof` says no. */
export function isWebhookError(error: unknown): error is WebhookError {
  return typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[BRAND] === true;
}

/** A mistake of set-up: thrown where a verifier, a receiver or a middleware is made. Names the option, never its value. */
export class ConfigurationError extends TypeError {
  readonly code = 'misconfigured';
  readonly option: string;

  constructor(option: string, problem: string) {
    super(`${option} ${problem}`);
    this.option = option;
  }

  static {
    Object.defineProperty(this.prototype, 'name', { value: 'ConfigurationError', configurable: true, writable: true });
  }
}
