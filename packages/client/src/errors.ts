// An application can contain two copies of this package (ESM and CJS, two versions).
const BRAND = Symbol.for('@paylink/client:PaylinkError');

/** Every code of a `PaylinkError`. Codes are stable: branch on codes, never on messages. */
export type PaylinkErrorCode =
  // The client sent nothing.
  | 'invalid_link'
  | 'invalid_reference'
  | 'invalid_idempotency_key'
  // The reply is missing or unusable.
  | 'network_error'
  | 'timeout'
  | 'aborted'
  | 'redirected'
  | 'response_too_large'
  | 'invalid_response'
  | 'response_mismatch'
  // The service refused.
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

/** The reason why a call failed. Branch on `code`, which is stable, never on the message. */
export class PaylinkError extends Error {
  readonly code: PaylinkErrorCode;
  /** The status of the response, if there was one. */
  declare readonly status?: number;
  /** The service's request id (`X-Request-Id` or `Request-Id`), for its support team. */
  declare readonly requestId?: string;
  /** Milliseconds to wait before a retry, from the service's `Retry-After`. */
  declare readonly retryAfter?: number;
  /** The call's Idempotency-Key. Retry with this key and the same link. */
  declare readonly idempotencyKey?: string;
  /**
   * Set if an attempt ended without a clear result, so the link may exist. Call again with
   * `idempotencyKey` and the same link. A different key could create a second link.
   */
  declare readonly mayHaveCreated?: true;
  // Private, so that neither an inspector nor a serialiser writes the body into logs.
  readonly #body: unknown;

  constructor(
    code: PaylinkErrorCode,
    message: string,
    { cause, body, ...details }: PaylinkErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.#body = body;
    for (const [name, value] of Object.entries(details)) {
      if (value !== undefined) Object.assign(this, { [name]: value });
    }
  }

  /**
   * The service's response body, if there is one: parsed JSON, or the text, up to 1 MiB. The
   * error's message, inspection and serialisation omit the body.
   */
  get body(): unknown {
    return this.#body;
  }
}
PaylinkError.prototype.name = 'PaylinkError';
Object.defineProperty(PaylinkError.prototype, BRAND, { value: true });

/** Returns true for a PaylinkError, even from another copy of this package. */
export function isPaylinkError(error: unknown): error is PaylinkError {
  return (error as Record<symbol, unknown> | null | undefined)?.[BRAND] === true;
}
