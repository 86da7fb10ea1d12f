/** Asks the service for a payment. */
import { WebhookError } from '@paylink/core';
import { check } from '@paylink/core/internal';

export type PaymentStatus = 'pending' | 'success' | 'failed' | 'cancelled';

/** The fields of a payment that Paylink reads. The client may pass more fields to `credit`. */
export type ServicePayment = Readonly<{ reference: string; status: string }>;

/** Reads payments from the service. The client of `@paylink/client` implements this interface. */
export interface PaymentClient<Payment extends ServicePayment = ServicePayment> {
  getPayment(
    reference: string,
    options: {
      readonly signal: AbortSignal;
      /** The merchant whose API key to use. */
      readonly tenant?: string | undefined;
      /**
       * Set by `reconcile`, which pauses for all references. If false, do not wait out a rate
       * limit.
       */
      readonly retryLimited?: false | undefined;
    },
  ): Promise<Payment>;
}

export type AskOptions = Parameters<PaymentClient['getPayment']>[1];

export type ClientOf<Payment extends ServicePayment> = (
  tenant: string | undefined,
) => PaymentClient<Payment>;

/**
 * Validates the option `client`. Calls a function that throws again on the next use.
 *
 * @throws ConfigurationError
 */
export function validateClient<Payment extends ServicePayment>(
  option: PaymentClient<Payment> | ClientOf<Payment>,
): ClientOf<Payment> {
  if (isClient(option)) return () => option;
  check(
    typeof option === 'function',
    'client',
    'must be an object with getPayment(), or a function that returns one',
  );
  const clients = new Map<string | undefined, PaymentClient<Payment>>();
  return (tenant) => {
    const known = clients.get(tenant);
    if (known !== undefined) return known;
    const client: unknown = option(tenant);
    if (client instanceof Promise) client.catch(() => undefined);
    check(isClient(client), 'client', 'must return an object with getPayment(), not a promise');
    clients.set(tenant, client as PaymentClient<Payment>);
    return client as PaymentClient<Payment>;
  };
}

export function isClient(value: unknown): value is PaymentClient {
  return typeof (value as Partial<PaymentClient> | null | undefined)?.getPayment === 'function';
}

/**
 * Returns the service's payment.
 *
 * @throws WebhookError `confirm_unavailable` if the client fails or the status is unknown
 */
export async function ask<Payment extends ServicePayment>(
  clientOf: ClientOf<Payment>,
  reference: string,
  options: AskOptions,
): Promise<Payment & { readonly status: PaymentStatus }> {
  let payment: Payment | undefined;
  try {
    payment = await clientOf(options.tenant).getPayment(reference, options);
  } catch (cause) {
    throw unavailable('the client could not read the payment', cause);
  }
  if (payment?.reference !== reference) {
    throw unavailable('getPayment() must return the payment with the requested reference');
  }
  if (!['pending', 'success', 'failed', 'cancelled'].includes(payment.status)) {
    throw unavailable('the status of the payment is not in the contract');
  }
  return payment as Payment & { readonly status: PaymentStatus };
}

function unavailable(message: string, cause?: unknown): WebhookError {
  return new WebhookError('confirm_unavailable', { message, cause });
}
