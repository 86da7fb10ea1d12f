/**
 * The errors of the emulated API. The contract does not define errors, so `assumed.errorStatus` can
 * change each status.
 */

export const ERROR_STATUSES = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  idempotency_in_flight: 409,
  idempotency_mismatch: 422,
  replay_failed: 500,
  reference_taken: 409,
  request_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
} as const;

export type ServiceErrorCode = keyof typeof ERROR_STATUSES;

/** Ends a request with an error answer. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly code: ServiceErrorCode,
    message: string,
    /** The wrong field of the request. */
    readonly field?: string,
  ) {
    super(message);
  }
}

/** @throws ServiceError `invalid_request`, always */
export function refuse(message: string, field?: string): never {
  throw new ServiceError('invalid_request', message, field);
}
