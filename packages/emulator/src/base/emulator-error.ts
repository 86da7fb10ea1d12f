import type { ServiceErrorCode } from './service-error.js';

/**
 * The codes of errors from the emulator's methods. `createLink` also fails with API codes such as
 * `reference_taken`.
 */
export type EmulatorErrorCode =
  | 'emulator_closed'
  | 'emulator_reset'
  | 'no_webhook'
  | 'payment_not_found'
  | 'transition_not_allowed'
  | 'invalid_amount'
  | 'delivery_not_found'
  | 'wait_timeout'
  | 'state_not_written'
  | ServiceErrorCode;

/** An error of the emulator's methods. Branch on `code`. The message is for people. */
export class EmulatorError extends Error {
  override readonly name = 'EmulatorError';

  constructor(
    readonly code: EmulatorErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function isNotWritten(error: unknown): error is EmulatorError {
  return error instanceof EmulatorError && error.code === 'state_not_written';
}
