/** Reads and checks what the client answers, and makes its errors those of a run. */
import { WebhookError } from '@paylink/core';
import type { ServicePayment } from './contract.js';
import { field, fieldOfError } from './order.js';

const STATUSES: readonly unknown[] = ['pending', 'success', 'failed', 'cancelled'];

/**
 * Copies the answer, because the page gets it too, and may change what it gets.
 *
 * @throws WebhookError `confirm_unavailable` if the answer confirms nothing
 */
export function readPayment(answer: unknown, expected: string): ServicePayment {
  if (typeof answer !== 'object' || answer === null) {
    throw unconfirmed('getPayment() of the client gave no object: look for a missing `return`');
  }
  const type = field(answer, 'type');
  const payment = Object.freeze({
    ...answer,
    reference: field(answer, 'reference'),
    status: field(answer, 'status'),
    amount: field(answer, 'amount'),
    currency: field(answer, 'currency'),
    ...(type !== undefined && { type }),
  }) as ServicePayment;
  const fault = faultOf(payment, expected, type);
  if (fault !== undefined) throw unconfirmed(`the service's payment ${fault}`);
  return payment;
}

function faultOf(payment: ServicePayment, reference: string, type: unknown): string | undefined {
  const { status, amount, currency } = payment;
  if (payment.reference !== reference) return 'has another reference';
  // The contract shows no other kinds of records. The success of a refund credits nothing.
  if ((type ?? 'payment') !== 'payment') return 'has another `type` than payment';
  if (!STATUSES.includes(status)) return 'has a status that is not in the contract';
  if (status !== 'success') return undefined;
  if (!Number.isSafeInteger(amount) || amount! <= 0) {
    return 'has an `amount` that is not a positive whole number';
  }
  return typeof currency === 'string' && currency !== '' ? undefined : 'has no `currency`';
}

/** Makes the error of a run from an error of the client. */
export function confirmError(cause: unknown): WebhookError {
  const status = fieldOfError(cause, 'status');
  if (status === 404) {
    const message = 'the service has no payment of this reference, so its link was never created';
    return new WebhookError('no_payment', { message, cause });
  }
  const message =
    status === 401
      ? 'the service refused the API key (401): check the key and its environment'
      : 'the client could not read the payment';
  return unconfirmed(message, cause);
}

function unconfirmed(message: string, cause?: unknown): WebhookError {
  const retryAfter = retryAfterOf(cause);
  return new WebhookError('confirm_unavailable', { message, cause, retryAfter });
}

/** Returns true if the service refused the client's key, as it would for every other order. */
export function isKeyRefused(error: WebhookError | undefined): boolean {
  // `find` and `credit` may ask other services, whose refusals are orders_unavailable.
  return error?.code === 'confirm_unavailable' && fieldOfError(error.cause, 'status') === 401;
}

export function retryAfterOf(error: unknown): number | undefined {
  const delay = fieldOfError(error, 'retryAfter');
  return Number.isFinite(delay) && (delay as number) >= 0 ? (delay as number) : undefined;
}
