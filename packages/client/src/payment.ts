import { mayBeHttp, type Settings } from './options.js';
import { PaylinkError, type PaylinkErrorCode, type PaylinkErrorDetails } from './errors.js';
import type { CheckedLink } from './link.js';
import type { Reply } from './request.js';

/**
 * The status of a payment (docs/service.md 3.1). Any status outside the contract becomes `unknown`,
 * which is never a success. `sentStatus` is the status as sent.
 */
export type StatusAsRead =
  | { readonly status: 'pending' }
  | { readonly status: 'success' }
  | { readonly status: 'failed' }
  | { readonly status: 'cancelled' }
  | { readonly status: 'unknown'; readonly sentStatus: string };

type PaymentFields = Readonly<{
  reference: string;
  type: 'payment';
  /**
   * The amount in the smallest unit of the currency. The contract leaves open whether a free amount
   * exists before the customer chooses it.
   */
  amount?: number;
  currency: string;
}>;

/** A payment in the service's response (docs/service.md 2.3). */
export type Payment = PaymentFields & StatusAsRead;

/** A created link (docs/service.md 2.2). Its payment is pending. */
export interface PaymentLink {
  /** The last segment of `url`. */
  readonly token: string;
  /** The page to send the customer to. */
  readonly url: string;
  /** The amount of a fixed link, in the smallest unit of the currency. */
  readonly amount?: number;
  readonly currency: string;
  readonly reference: string;
  readonly status: 'pending';
}

type Fields = Readonly<Record<string, unknown>>;
type Addresses = Pick<Settings, 'baseUrl' | 'allowHttp'>;

const STATUSES: readonly string[] = ['pending', 'success', 'failed', 'cancelled'];

/**
 * Validates a reply against the contract and against the requested link.
 *
 * @throws PaylinkError `invalid_response`, `response_mismatch` or `link_already_used`
 */
export function parsePaymentLink(
  reply: Reply,
  asked: CheckedLink,
  settings: Addresses,
  idempotencyKey: string,
): PaymentLink {
  const answer = new Answer(reply, { status: 201, idempotencyKey, mayHaveCreated: true });
  const fields = answer.fields(asked.reference);
  if (asked.amount !== undefined && fields.amount !== asked.amount) answer.contradicts('amount');
  const url = answer.text('url');
  if (!isSafePage(url, settings))
    answer.fails('has a `url` that is not https', 'response_mismatch');
  const { status } = answer.status();
  if (status !== 'pending') {
    // A restored database repeats references, and receives the paid link of another order.
    throw new PaylinkError(
      'link_already_used',
      `the service returned an earlier link, and its payment is ${status}. If you retried ` +
        'the same order, settle it. If the order is new, its reference or its idempotencyKey ' +
        'belongs to another order: use random references',
      { status: 201, requestId: reply.requestId, idempotencyKey },
    );
  }
  return Object.freeze({ token: answer.text('token'), url, ...fields, status });
}

/** @throws PaylinkError `invalid_response` or `response_mismatch` */
export function parsePayment(reply: Reply, asked: string): Payment {
  const answer = new Answer(reply, { status: 200 });
  const fields = answer.fields(asked);
  // The contract shows no other kinds of records. Never credit the success of a refund.
  if (answer.text('type') !== 'payment')
    answer.fails('has another `type` than payment', 'response_mismatch');
  return Object.freeze({ ...fields, type: 'payment', ...answer.status() });
}

/** Returns true for https. If the service uses http, as the emulator does, the page may too. */
function isSafePage(text: string, { baseUrl, allowHttp }: Addresses): boolean {
  const isHttp = (address: string): boolean =>
    address.startsWith('http:') && mayBeHttp(new URL(address), allowHttp);
  if (!URL.canParse(text)) return false;
  const { href } = new URL(text);
  return href.startsWith('https:') || (isHttp(href) && isHttp(baseUrl));
}

/** Reads the fields of a reply. Errors never quote a field. */
class Answer {
  readonly #fields: Fields;
  readonly #details: PaylinkErrorDetails;

  constructor({ json, requestId }: Reply, details: PaylinkErrorDetails) {
    this.#details = { ...details, requestId };
    this.#fields = json as Fields;
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      this.fails('is not a JSON object');
  }

  text(name: string): string {
    const value = this.#fields[name];
    if (typeof value !== 'string' || value === '')
      this.fails(`must have \`${name}\`, a non-empty string`);
    return value;
  }

  fields(asked: string): Pick<PaymentFields, 'reference' | 'amount' | 'currency'> {
    const reference = this.text('reference');
    if (reference !== asked) this.contradicts('reference');
    const { amount } = this.#fields;
    const isAmount = Number.isSafeInteger(amount) && (amount as number) >= 0;
    if (!isAmount && amount !== undefined && amount !== null)
      this.fails('has an `amount` that is not a whole number');
    return {
      reference,
      ...(isAmount && { amount: amount as number }),
      currency: this.text('currency'),
    };
  }

  status(): StatusAsRead {
    const sentStatus = this.text('status');
    return STATUSES.includes(sentStatus)
      ? { status: sentStatus as Exclude<StatusAsRead['status'], 'unknown'> }
      : { status: 'unknown', sentStatus };
  }

  contradicts(name: string): never {
    this.fails(`has a different \`${name}\` than the request`, 'response_mismatch');
  }

  fails(problem: string, code: PaylinkErrorCode = 'invalid_response'): never {
    throw new PaylinkError(code, `the service's answer ${problem}`, {
      ...this.#details,
      body: this.#fields,
    });
  }
}
