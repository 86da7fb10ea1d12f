/** The client's answers: checked, as errors of a run, and kept for the next callers. */
import { WebhookError } from '@paylink/core';
import type { ServicePayment } from './contract.js';
import { field, fieldOfError } from './order.js';
import { now } from './run.js';

const STATUSES: readonly unknown[] = ['pending', 'success', 'failed', 'cancelled'];

/**
 * Copies the answer, so that a page that changes its answer changes no other.
 *
 * @throws WebhookError `confirm_unavailable` if the answer confirms nothing
 */
export function readPayment(answer: unknown, expected: string): ServicePayment {
  if (typeof answer !== 'object' || answer === null) {
    throw unconfirmed('getPayment() of the client gave no object: look for a missing `return`');
  }
  let payment: ServicePayment;
  try {
    payment = copyOf(answer);
  } catch (cause) {
    throw unconfirmed('getPayment() of the client gave an object whose getter throws', cause);
  }
  const fault = faultOf(payment, expected);
  if (fault !== undefined) throw unconfirmed(`the service's payment ${fault}`);
  return payment;
}

function copyOf(answer: object): ServicePayment {
  const type = field(answer, 'type');
  return Object.freeze({
    ...answer,
    reference: field(answer, 'reference'),
    status: field(answer, 'status'),
    amount: field(answer, 'amount'),
    currency: field(answer, 'currency'),
    ...(type !== undefined && { type }),
  }) as ServicePayment;
}

function faultOf(payment: ServicePayment, reference: string): string | undefined {
  const { status, amount, currency } = payment;
  if (payment.reference !== reference) return 'has another reference';
  // The contract shows no other kinds of records. The success of a refund credits nothing.
  if ((field(payment, 'type') ?? 'payment') !== 'payment') return 'has another `type` than payment';
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

/** Thrown if the question was not sent, because its turn would come too late for the caller. */
export class NotAsked extends WebhookError {
  /** True if the question was sent, and the service refused it. */
  readonly isRefused: boolean;

  constructor(message: string, retryAfter: number, isRefused: boolean) {
    super('confirm_unavailable', { message, retryAfter });
    this.isRefused = isRefused;
  }
}

/** Milliseconds for which an answer is reused, so that a page which polls floods no service. */
const REUSED_FOR = 2_000;
/** Answers in each of the two maps. */
const MOST_ANSWERS = 5_000;

interface RecentAnswer {
  readonly answer: Promise<ServicePayment>;
  readonly isSuccess: boolean;
  /** The value of `now()` at which the question was sent. */
  readonly sentAt: number;
}

export class RecentAnswers {
  #newer = new Map<string, RecentAnswer & { readonly expiry: number }>();
  /** Dropped as a whole, because a Map is slow after many single deletions. */
  #older = this.#newer;
  #newerEnd = 0;

  get(key: string): RecentAnswer | undefined {
    const known = this.#newer.get(key) ?? this.#older.get(key);
    return known !== undefined && known.expiry > now() ? known : undefined;
  }

  add(key: string, answer: RecentAnswer): void {
    const time = now();
    if (time >= this.#newerEnd || this.#newer.size >= MOST_ANSWERS) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newerEnd = time + REUSED_FOR;
    }
    this.#newer.set(key, { ...answer, expiry: time + REUSED_FOR });
  }
}
