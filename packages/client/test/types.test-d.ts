/** Types are part of the product: what must compile, and what must not. Checked by `pnpm types`, never run. */
import { createReceiver, memoryStore, type IdempotencyStore as CoreStore, type PaymentSource } from '@paylink/core';
import {
  createClient,
  isPaylinkError,
  reconcile,
  type IdempotencyStore,
  type Payment,
  type PaymentLinkRequest,
  type SuccessfulPayment,
} from '../src/index.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(equal: Equal<A, B>): boolean => equal;

// What the environment may lack can be passed as it is; set-up throws.
const client = createClient({ baseUrl: process.env['PAYLINK_URL'], apiKey: process.env['PAYLINK_KEY'] });
createClient({ baseUrl: '', apiKey: '', authentication: 'x-api-key', fetch, timeout: 1, retries: 0, deadline: 1 });
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
void client.createPaymentLink({ amount: 1, amount_min: 1, amount_max: 2, description: 'd', reference: 'r' });
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
  same<(typeof payment)['status'], 'pending' | 'success' | 'failed' | 'cancelled' | 'unknown'>(true);
  same<(typeof payment)['amount'], number | undefined>(true);
  if (payment.status === 'success') {
    const successful: SuccessfulPayment = payment;
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
// @ts-expect-error a number is no reference
void client.getPayment(42);

// A client is what a webhook confirms by, and its handler gets the client's payment.
const source: PaymentSource<Payment> = client;
void source;
createReceiver({ secret: 's', confirm: client, idempotency: memoryStore() }, (_event, { payment }) => {
  same<typeof payment, Payment>(true);
});

// The webhook's store is reconcile's, and gives onSuccess the same scope.
declare const postgres: CoreStore<{ tx: { query(sql: string): Promise<void> } }>;
const shared: IdempotencyStore<{ tx: { query(sql: string): Promise<void> } }> = postgres;
const back: CoreStore<{ tx: { query(sql: string): Promise<void> } }> = shared;
void back;
void reconcile({
  client,
  references: ['r'],
  idempotency: postgres,
  onSuccess: (payment, { tx, signal }) => {
    same<typeof payment, SuccessfulPayment>(true);
    same<(typeof payment)['status'], 'success'>(true);
    same<typeof signal, AbortSignal>(true);
    return tx.query('');
  },
});
void reconcile({
  client,
  references: new Set(['r']),
  idempotency: { store: postgres, key: ({ type, reference }) => `${type}${reference}` },
  onSuccess: (_payment, { tx }) => tx.query(''),
  onResult: (result) => {
    if (result.outcome === 'error') same<typeof result.error, unknown>(true);
    // @ts-expect-error only an error has one
    else void result.error;
  },
});
const idempotency = { store: memoryStore(), key: ({ reference }: { reference: string }) => reference };
createReceiver({ secret: 's', idempotency }, () => undefined);
void reconcile({
  client,
  references: (async function* () {
    yield await Promise.resolve('r');
  })(),
  idempotency,
  onSuccess: () => undefined,
});
// @ts-expect-error no tx without a store that has one
void reconcile({ client, references: ['r'], idempotency: memoryStore(), onSuccess: (_payment, { tx }) => void tx });
// @ts-expect-error a text is no list of references
void reconcile({ client, references: 'order-42', idempotency: memoryStore(), onSuccess: () => undefined });
// @ts-expect-error numbers are no references
void reconcile({ client, references: [42], idempotency: memoryStore(), onSuccess: () => undefined });
// @ts-expect-error without a store an order would be credited twice
void reconcile({ client, references: ['r'], onSuccess: () => undefined });
void reconcile({
  client,
  references: ['r'],
  // @ts-expect-error there is no payload here to make a key from
  idempotency: { store: memoryStore(), key: ({ payload }) => String(payload) },
  onSuccess: () => undefined,
});

const error: unknown = undefined;
if (isPaylinkError(error)) {
  same<typeof error.status, number | undefined>(true);
  same<typeof error.body, unknown>(true);
  // @ts-expect-error no such code
  if (error.code === 'oops') void error;
}
