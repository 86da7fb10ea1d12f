/** Code that must compile, and code that must not. `pnpm types` checks it, and nothing runs it. */
import {
  createClient,
  isPaylinkError,
  type Payment,
  type PaymentLinkRequest,
} from '../src/index.js';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(equal: Equal<A, B>): boolean => equal;

// What the environment may lack can be passed as it is; set-up throws.
const client = createClient({
  baseUrl: process.env['PAYLINK_URL'],
  apiKey: process.env['PAYLINK_KEY'],
});
createClient({
  baseUrl: '',
  apiKey: '',
  authentication: 'x-api-key',
  fetch,
  timeout: 1,
  retries: 0,
  totalTimeout: 1,
});
createClient({ baseUrl: '', apiKey: '', fetch: (url, init) => fetch(new Request(url, init)) });
// @ts-expect-error no API key
createClient({ baseUrl: '' });
// @ts-expect-error a misspelt option
createClient({ baseUrl: '', apikey: '' });
// @ts-expect-error another way to authenticate
createClient({ baseUrl: '', apiKey: '', authentication: 'basic' });

// A link has an amount, or bounds in its place.
void client.createPaymentLink({ amount: 1, reference: 'r' });
void client.createPaymentLink(
  { amount: 1, reference: 'r', description: undefined, single_use: true },
  { idempotencyKey: undefined },
);
void client.createPaymentLink({ amount_min: 1, amount_max: 2, description: 'd', reference: 'r' });
declare const either: PaymentLinkRequest;
void client.createPaymentLink(either, { signal: AbortSignal.timeout(1) });
// @ts-expect-error both ways to say the amount
void client.createPaymentLink({
  amount: 1,
  amount_min: 1,
  amount_max: 2,
  description: 'd',
  reference: 'r',
});
// @ts-expect-error an amount beside one bound
void client.createPaymentLink({ amount: 1, amount_min: 1, reference: 'r' });
// @ts-expect-error no amount at all
void client.createPaymentLink({ reference: 'r' });
// @ts-expect-error one bound alone
void client.createPaymentLink({ amount_min: 1, description: 'd', reference: 'r' });
// @ts-expect-error a free amount needs a description
void client.createPaymentLink({ amount_min: 1, amount_max: 2, reference: 'r' });
// @ts-expect-error an amount as a text
void client.createPaymentLink({ amount: '1', reference: 'r' });
// @ts-expect-error no reference
void client.createPaymentLink({ amount: 1 });
// @ts-expect-error a misspelt field
void client.createPaymentLink({ amount: 1, reference: 'r', singleUse: true });
// @ts-expect-error a misspelt option
void client.createPaymentLink({ amount: 1, reference: 'r' }, { idempotencykey: 'k' });

// The status narrows, and the unknown is none of the four.
void client.getPayment('r').then((payment) => {
  same<(typeof payment)['status'], 'pending' | 'success' | 'failed' | 'cancelled' | 'unknown'>(
    true,
  );
  same<(typeof payment)['amount'], number | undefined>(true);
  if (payment.status === 'success') {
    const successful: Extract<Payment, { readonly status: 'success' }> = payment;
    void successful;
  }
  if (payment.status === 'unknown') same<typeof payment.sentStatus, string>(true);
  // @ts-expect-error only the unknown has a word of the service's own
  void payment.sentStatus;
  // @ts-expect-error no status of the contract
  if (payment.status === 'paid') return;
  switch (payment.status) {
    case 'pending':
    case 'success':
    case 'failed':
    case 'cancelled':
    case 'unknown':
      return;
    default:
      same<typeof payment, never>(true);
  }
});
// What payments passes.
void client.getPayment('r', { signal: AbortSignal.timeout(1), tenant: null });
// @ts-expect-error a number is no reference
void client.getPayment(42);

// A created link is pending: a link that was paid before is an error.
void client.createPaymentLink({ amount: 1, reference: 'r' }).then((link) => {
  same<(typeof link)['status'], 'pending'>(true);
});

const error: unknown = undefined;
if (isPaylinkError(error)) {
  same<typeof error.status, number | undefined>(true);
  same<typeof error.body, unknown>(true);
  // @ts-expect-error no such code
  if (error.code === 'oops') void error;
}
