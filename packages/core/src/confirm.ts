import { fault } from './errors.js';

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
