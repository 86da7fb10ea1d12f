/** The client's answers: checked, as errors of a run, and kept for the next callers. */
import { isWebhookError, WebhookError } from '@paylink/core';
import type { ServicePayment } from './contract.js';
import { field, fieldOfError } from './order.js';

const STATUSES: readonly unknown[] = ['pending', 'success', 'failed', 'cancelled'];
const LONGEST_CURRENCY = 100;

/**
 * Reads the five fields that count, and copies them, so that a page that changes its answer changes
 * no other, and a large answer is not kept.
 *
 * @throws WebhookError `confirm_unavailable` if the answer confirms nothing
 */
export function readPayment(answer: unknown, reference: string): ServicePayment {
  if (typeof answer !== 'object' || answer === null) {
    throw unconfirmed('getPayment() of the client gave no object: look for a missing `return`');
  }
  try {
    const [type, status] = [field(answer, 'type'), field(answer, 'status')];
    const [amount, currency] = [field(answer, 'amount'), field(answer, 'currency')];
    const read = { reference: field(answer, 'reference'), type, status, amount, currency };
    const fault = faultOf(read, reference);
    if (fault !== undefined) throw unconfirmed(`the service's payment ${fault}`);
    return Object.freeze({
      ...{ reference, status: status as string },
      ...(isAmount(amount) && { amount }),
      ...(isCurrency(currency) && { currency }),
      ...(type !== undefined && { type: 'payment' }),
    });
  } catch (cause) {
    if (isWebhookError(cause)) throw cause;
    throw unconfirmed('getPayment() of the client gave an object whose getter throws', cause);
  }
}

function faultOf(
  { reference, type = 'payment', status, amount, currency }: Readonly<Record<string, unknown>>,
  expected: string,
): string | undefined {
  if (reference !== expected) return 'has another reference';
  // The contract shows no other kinds of records. The success of a refund credits nothing.
  if (type !== 'payment') return 'has another `type` than payment';
  if (!STATUSES.includes(status)) return 'has a status that is not in the contract';
  if (status !== 'success') return undefined;
  if (!isAmount(amount)) return 'has an `amount` that is not a positive whole number';
  return isCurrency(currency) ? undefined : 'has no `currency`';
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isCurrency(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_CURRENCY;
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

/** Thrown if the service refused a question, or if it was not sent: its answer would be late. */
export class Limited extends WebhookError {
  readonly isSent: boolean;

  constructor(pause: number, cause?: unknown) {
    const message = 'the service limits its questions, and this one has to come back later';
    super('confirm_unavailable', { message, cause, retryAfter: pause > 0 ? pause : undefined });
    this.isSent = cause !== undefined;
  }
}
