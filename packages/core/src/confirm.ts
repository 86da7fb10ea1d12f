import { check, fault } from './errors.js';

/** What `confirm` must give of a payment. */
export interface ConfirmedPayment {
  readonly reference: string;
  readonly status: string;
}

export interface ConfirmOptions {
  /** Aborted when the time of the delivery is over. */
  readonly signal: AbortSignal;
  /** The merchant by whose API key to ask, where the option `tenant` names one. */
  readonly tenant?: string | undefined;
}

/** Anything that reads a payment from the service; the client of `@paylink/client` is one. */
export interface PaymentSource<Payment extends ConfirmedPayment> {
  getPayment(reference: string, options: ConfirmOptions): Promise<Payment>;
}

/**
 * A source, or a function that makes one at its first use: for a route that a build imports without its environment. A function
 * that throws is called again by the next delivery.
 */
export type ConfirmOption<Payment extends ConfirmedPayment> = PaymentSource<Payment> | (() => PaymentSource<Payment>);

/** Checks the option at set-up. @throws ConfigurationError */
export function readConfirm<Payment extends ConfirmedPayment>(
  option: ConfirmOption<Payment> | undefined,
): PaymentSource<Payment> | undefined {
  if (option === undefined || isSource(option)) return option;
  check(typeof option === 'function', 'confirm', 'must have a function `getPayment`, or be a function that makes what has one');
  let made: PaymentSource<Payment> | undefined;
  return {
    getPayment(reference, options) {
      if (made === undefined) {
        const source = option();
        check(isSource(source), 'confirm', 'must give what has a function `getPayment`, and not a promise of it');
        made = source;
      }
      return made.getPayment(reference, options);
    },
  };
}

function isSource<Payment extends ConfirmedPayment>(
  option: ConfirmOption<Payment> | null | undefined,
): option is PaymentSource<Payment> {
  return typeof (option as Partial<PaymentSource<Payment>> | null | undefined)?.getPayment === 'function';
}

/**
 * Asks the service itself. Gives the payment when it succeeded, and nothing when it was failed or cancelled.
 *
 * @throws WebhookError `payment_pending`, or `confirm_unavailable` for an answer that is not a payment of this reference.
 */
export async function confirmPayment<Payment extends ConfirmedPayment>(
  source: PaymentSource<Payment>,
  reference: string,
  options: ConfirmOptions,
): Promise<Payment | undefined> {
  let payment: Payment | undefined;
  try {
    payment = await source.getPayment(reference, options);
  } catch (cause) {
    throw fault('confirm_unavailable', 'the payment could not be read', cause);
  }
  if (payment?.reference === reference) {
    if (payment.status === 'success') return payment;
    if (payment.status === 'failed' || payment.status === 'cancelled') return undefined;
    if (payment.status === 'pending') throw fault('payment_pending', 'the service says that the payment is pending');
  }
  throw fault('confirm_unavailable', 'the answer is not a payment of this reference in a known status');
}
