/** The statuses of SERVICE.md section 3. */
export type PaymentStatus = 'pending' | 'success' | 'failed' | 'cancelled';

export const CURRENCY = 'XOF';

/** A payment as the API reads it out (SERVICE.md section 2.3). */
export interface Payment {
  readonly reference: string;
  readonly type: 'payment';
  /** In the smallest unit of the currency. Missing only with `assumed.amountBeforeChoice: 'omit'`. */
  readonly amount?: number;
  readonly currency: string;
  readonly status: PaymentStatus;
}

/** What a link asks of the customer: an amount, or a choice between two. */
export type Price = { readonly amount: number } | { readonly amountMin: number; readonly amountMax: number };

/** A request of SERVICE.md section 2.1 that was found valid. */
export interface LinkRequest {
  readonly reference: string;
  readonly price: Price;
  readonly description?: string;
  readonly returnUrl?: string;
  readonly cancelUrl?: string;
  readonly singleUse: boolean;
}

/** A created link and how its payment stands. */
export interface Link extends LinkRequest {
  readonly token: string;
  readonly url: string;
  readonly status: PaymentStatus;
  /** What was paid, or tried; for a fixed amount always that. */
  readonly amount?: number;
  readonly createdAt: Date;
}

/** A link as its creation answers it (SERVICE.md section 2.2). */
export interface CreatedLink {
  readonly token: string;
  readonly url: string;
  readonly amount?: number;
  readonly currency: string;
  readonly reference: string;
  readonly status: PaymentStatus;
}

/** The body of the 201 for a link that was just made. */
export function toCreatedLink({ token, url, price, reference, status }: Link): CreatedLink {
  return { token, url, ...('amount' in price ? { amount: price.amount } : {}), currency: CURRENCY, reference, status };
}

/** The payment of a link, as it is read out. */
export function toPayment({ reference, amount, status }: Link, beforeChoice: number | 'omit'): Payment {
  const known = amount ?? (beforeChoice === 'omit' ? undefined : beforeChoice);
  return { reference, type: 'payment', ...(known === undefined ? {} : { amount: known }), currency: CURRENCY, status };
}
