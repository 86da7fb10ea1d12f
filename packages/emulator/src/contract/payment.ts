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

/** The fields of a link (docs/service.md 2.1): a fixed amount, or one that the customer chooses. */
export type PaymentLinkFields = Readonly<{
  reference: string;
  return_url?: string;
  cancel_url?: string;
  single_use?: boolean;
}> &
  (
    | Readonly<{ amount: number; description?: string }>
    | Readonly<{ amount_min: number; amount_max: number; description: string }>
  );

/** A created link with the state of its payment. */
export type Link = PaymentLinkFields &
  Readonly<{
    token: string;
    url: string;
    status: PaymentStatus;
    /** The amount that the customer chose: paid, or tried. */
    chosen?: number;
    createdAt: Date;
  }>;

/** Returns the amounts that a customer may pay. */
export function amountBoundsOf(link: PaymentLinkFields): Readonly<{ min: number; max: number }> {
  if ('amount' in link) return { min: link.amount, max: link.amount };
  return { min: link.amount_min, max: link.amount_max };
}

/** Returns the amount of a payment, unless the customer has yet to choose one. */
export function amountOf(link: Link): number | undefined {
  return 'amount' in link ? link.amount : link.chosen;
}

/** The API's response to a new link (docs/service.md 2.2). */
export type CreatedLink = Readonly<{
  token: string;
  url: string;
  amount?: number;
  currency: string;
  reference: string;
  status: PaymentStatus;
}>;

/** Returns the body of the 201 for a new link. */
export function toCreatedLink(link: Link): CreatedLink {
  const { token, url, reference, status } = link;
  return {
    token,
    url,
    ...('amount' in link ? { amount: link.amount } : {}),
    currency: CURRENCY,
    reference,
    status,
  };
}

/** Returns the payment of a link in the API's form. */
export function toPayment(link: Link, beforeChoice: number | 'omit'): Payment {
  const { reference, status } = link;
  const amount = amountOf(link) ?? beforeChoice;
  const known = amount === 'omit' ? {} : { amount };
  return { reference, type: 'payment', ...known, currency: CURRENCY, status };
}
