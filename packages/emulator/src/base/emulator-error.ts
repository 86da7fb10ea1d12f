/**
 * The errors of the emulated API. The contract does not define errors, so `assumed.errorStatus` can
 * change each status.
 */
export const ERROR_STATUSES = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  idempotency_conflict: 409,
  reference_taken: 409,
  request_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
} as const;

export type ServiceErrorCode = keyof typeof ERROR_STATUSES;

/** Codes of the errors that the emulator throws. `createLink` can also fail with an API code. */
export type EmulatorErrorCode =
  | 'emulator_closed'
  | 'emulator_reset'
  | 'no_webhook'
  | 'payment_not_found'
  | 'transition_not_allowed'
  | 'invalid_amount'
  | 'delivery_not_found'
  | 'wait_timeout'
  | ServiceErrorCode;

/** An error from the emulator's methods. Branch on `code`. The message is meant for people. */
export class EmulatorError extends Error {
  override readonly name = 'EmulatorError';

  constructor(
    readonly code: EmulatorErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** @throws EmulatorError `invalid_request`, always */
export function refuse(message: string): never {
  throw new EmulatorError('invalid_request', message);
}
