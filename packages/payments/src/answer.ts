/** Checks the client's answers, and translates its errors into errors of a run. */
import { WebhookError } from '@paylink/core';
import type { ServicePayment } from './contract.js';
import { field, fieldOfError } from './order.js';

const STATUSES: readonly unknown[] = ['pending', 'success', 'failed', 'cancelled'];
const LONGEST_CURRENCY = 100;

/** A payment, or the error `no_payment` or `confirm_unavailable`. */
export interface QuestionResult {
  readonly payment?: ServicePayment | undefined;
  readonly error?: WebhookError | undefined;
}

/**
 * Copies the five fields that count: no page can change another page's answer, and the memory keeps
 * no large answer.
 */
export function readAnswer(answer: unknown, expected: string): QuestionResult {
  if (typeof answer !== 'object' || answer === null) {
    return unconfirmed("the client's getPayment() returned no object: look for a missing `return`");
  }
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = {
      reference: field(answer, 'reference'),
      type: field(answer, 'type'),
      status: field(answer, 'status'),
      amount: field(answer, 'amount'),
      currency: field(answer, 'currency'),
    };
  } catch (cause) {
    return unconfirmed("the client's getPayment() returned an object whose getter throws", cause);
  }
  const fault = faultOf(fields, expected);
  if (fault !== undefined) return unconfirmed(`the service's payment ${fault}`);
  const { type, status, amount, currency } = fields;
  const payment: Record<string, unknown> = { reference: expected, status };
  if (isAmount(amount)) payment['amount'] = amount;
  if (isCurrency(currency)) payment['currency'] = currency;
  if (type !== undefined) payment['type'] = type;
  return { payment: Object.freeze(payment) as ServicePayment };
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

export function readClientError(cause: unknown): QuestionResult {
  const status = fieldOfError(cause, 'status');
  if (status === 404) {
    const message = 'the service has no payment with this reference, so its link was never created';
    return { error: new WebhookError('no_payment', { message, cause }) };
  }
  const message =
    status === 401
      ? 'the service rejected the API key (401): check the key and its environment'
      : 'the client could not read the payment';
  return unconfirmed(message, cause);
}

function unconfirmed(message: string, cause?: unknown): QuestionResult {
  const retryAfter = retryAfterOf(cause);
  return { error: new WebhookError('confirm_unavailable', { message, cause, retryAfter }) };
}

/** Returns true if the service rejected the client's key, as it would for every other order. */
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
    const message = 'the service limits requests, so this one must be sent again later';
    super('confirm_unavailable', { message, cause, retryAfter: pause > 0 ? pause : undefined });
    this.isSent = cause !== undefined;
  }
}
