// Symbol.for, because an application can hold two copies of this package (ESM and CJS, or two versions).
const BRAND = Symbol.for('@paylink/client:PaylinkError');

/** Every code of a `PaylinkError`. They are stable: branch on them, never on messages. */
export type PaylinkErrorCode =
  // Nothing was sent.
  | 'invalid_link'
  | 'invalid_reference'
  | 'invalid_idempotency_key'
  | 'idempotency_key_reused'
  // No reply, or none to use.
  | 'network_error'
  | 'timeout'
  | 'aborted'
  | 'redirected'
  | 'response_too_large'
  | 'invalid_response'
  | 'response_mismatch'
  // The service's answer.
  | 'rejected'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'rate_limited'
  | 'service_error'
  | 'unexpected_status'
  | 'link_already_used';

export interface PaylinkErrorDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly mayHaveCreated?: true | undefined;
  readonly body?: unknown;
  readonly cause?: unknown;
}

/** Says why a call of the client failed. Branch on `code`, which is stable. The message is for people. */
export class PaylinkError extends Error {
  readonly code: PaylinkErrorCode;
  /** The status of the reply, if one came. */
  declare readonly status?: number;
  /** The service's id of the request (`X-Request-Id` or `Request-Id`), for its support. */
  declare readonly requestId?: string;
  /** Milliseconds that the service asked to wait (`Retry-After`). */
  declare readonly retryAfter?: number;
  /** The Idempotency-Key of a creation: pass it with the same link to retry without making a second one. */
  declare readonly idempotencyKey?: string;
  /**
   * Set if the link may exist although its creation failed: a try ended without an answer, or without one that settles it. Call again
   * with `idempotencyKey` and the same link. Another key could make a second one.
   */
  declare readonly mayHaveCreated?: true;
  // Neither shown by an inspector nor serialised, because it does not belong in logs.
  readonly #body: unknown;

  constructor(
    code: PaylinkErrorCode,
    message: string,
    { cause, body, mayHaveCreated, ...details }: PaylinkErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.#body = body;
    for (const [name, value] of Object.entries(details)) {
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true });
    }
    if (mayHaveCreated) noteMayHaveCreated(this);
  }

  /**
   * The service's answer: parsed JSON, or the text. `undefined` without an answer, or above 1 MiB. It
   * is in no message, inspection or serialisation of the error.
   */
  get body(): unknown {
    return this.#body;
  }
}
PaylinkError.prototype.name = 'PaylinkError';
Object.defineProperty(PaylinkError.prototype, BRAND, { value: true });

/** Notes on the error of a creation that the link may exist. */
export function noteMayHaveCreated(error: PaylinkError): void {
  // Not enumerable: it is for code that calls again, and a logged error does not change.
  Object.defineProperty(error, 'mayHaveCreated', { value: true, configurable: true });
}

/** Whether `error` is a PaylinkError, also one of another copy of this package, where `instanceof` says no. */
export function isPaylinkError(error: unknown): error is PaylinkError {
  return (error as Record<symbol, unknown> | null | undefined)?.[BRAND] === true;
}

/** Whether the service has refused the request for good, so that nothing was created. */
export function isRefusal(error: unknown): boolean {
  if (!isPaylinkError(error) || error.mayHaveCreated === true) return false;
  return ['rejected', 'unauthorized', 'forbidden', 'not_found'].includes(error.code);
}
