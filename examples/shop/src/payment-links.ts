/** Where the Payment Link Service is, and the key that it knows the shop by. */
export interface PaymentService {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface NewLink {
  readonly amount: number;
  readonly reference: string;
  readonly description: string;
  readonly returnUrl: string;
  readonly cancelUrl: string;
}

/**
 * Creates the link where the customer pays, and gives its address. The same order always sends the same Idempotency-Key, so
 * that a retry after a network failure makes no second link.
 *
 * @throws Error for any answer but 201.
 */
export async function createPaymentLink({ baseUrl, apiKey }: PaymentService, link: NewLink): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/payment-links`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `link-for-${link.reference}`,
    },
    body: JSON.stringify({
      amount: link.amount,
      reference: link.reference,
      description: link.description,
      return_url: link.returnUrl,
      cancel_url: link.cancelUrl,
      single_use: true,
    }),
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status !== 201) throw new Error(`the payment service answered ${response.status} instead of 201`);
  const { url } = (await response.json()) as { readonly url?: unknown };
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('the payment service gave no address to pay at');
  return url;
}
