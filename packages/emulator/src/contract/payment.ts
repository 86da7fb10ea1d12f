/** The statuses of a payment (docs/service.md 3.1). */
export type PaymentStatus = 'pending' | 'success' | 'failed' | 'cancelled';

export const CURRENCY = 'XOF';

/** A payment in the API's form (docs/service.md 2.3). */
export type Payment = Readonly<{
  reference: string;
  type: 'payment';
  /**
   * In the smallest unit of the currency. Missing only with `assumed.amountBeforeChoice: 'omit'`.
   */
  amount?: number;
  currency: string;
  status: PaymentStatus;
}>;

/** A link's amount, or the bounds of a free amount. */
export type Price =
  { readonly amount: number } | { readonly amountMin: number; readonly amountMax: number };

/** A valid request for a payment link (docs/service.md 2.1). */
export interface LinkRequest {
  readonly reference: string;
  readonly price: Price;
  readonly description?: string;
  readonly returnUrl?: string;
  readonly cancelUrl?: string;
  readonly singleUse: boolean;
}

/** A created link with the state of its payment. */
export interface Link extends LinkRequest {
  readonly token: string;
  readonly url: string;
  readonly status: PaymentStatus;
  /** The paid or tried amount. A fixed amount never changes. */
  readonly amount?: number;
  readonly createdAt: Date;
}

/** The fields of a link (docs/service.md 2.1): a fixed amount, or one that the customer chooses. */
export type PaymentLinkFields = {
  readonly reference: string;
  readonly return_url?: string;
  readonly cancel_url?: string;
  readonly single_use?: boolean;
} & (
  | { readonly amount: number; readonly description?: string }
  | { readonly amount_min: number; readonly amount_max: number; readonly description: string }
);

/** The API's answer to a created link (docs/service.md 2.2). */
export type CreatedLink = Readonly<{
  token: string;
  url: string;
  amount?: number;
  currency: string;
  reference: string;
  status: PaymentStatus;
}>;

/** Returns the body of the 201 for a new link. */
export function toCreatedLink({ token, url, price, reference, status }: Link): CreatedLink {
  return {
    token,
    url,
    ...('amount' in price ? { amount: price.amount } : {}),
    currency: CURRENCY,
    reference,
    status,
  };
}

/** Returns the payment of a link in the API's form. */
export function toPayment(
  { reference, amount, status }: Link,
  beforeChoice: number | 'omit',
): Payment {
  const known = amount ?? (beforeChoice === 'omit' ? undefined : beforeChoice);
  return {
    reference,
    type: 'payment',
    ...(known === undefined ? {} : { amount: known }),
    currency: CURRENCY,
    status,
  };
}
