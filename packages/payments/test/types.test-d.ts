/** Types are part of the product: what must compile, and what must not. Checked, never run. */
import { createClient, type Payment } from '@paylink/client';
import { createReceiver, type WebhookEvent } from '@paylink/core';
import {
  createPayments,
  memoryStore,
  type CreditContext,
  type PaymentClient,
  type PaymentStore,
} from '../src/index.js';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(equal: Equal<A, B>): boolean => equal;

interface Tx {
  query(sql: string): Promise<{ rowCount: number | null }>;
}
declare const store: PaymentStore<Tx>;
const client = createClient({ baseUrl: '', apiKey: '' });

// The store types `tx`, and the client types the payment.
const payments = createPayments({
  client,
  store,
  credit: async (payment, { tx, signal, tenant, source }) => {
    same<typeof payment.status, 'success'>(true);
    same<typeof payment.amount, number | undefined>(true);
    const successful: Extract<Payment, { readonly status: 'success' }> = payment;
    void successful;
    same<typeof tx, Tx>(true);
    same<typeof signal, AbortSignal>(true);
    same<typeof tenant, string | undefined>(true);
    same<typeof source, 'webhook' | 'settle' | 'reconcile'>(true);
    return (await tx.query('')).rowCount;
  },
  handlers: {
    'payment.refunded': async (event, { tx }) => {
      same<typeof event.payload, unknown>(true);
      await tx.query('');
    },
  },
});

// A client by tenant, and a client of your own.
createPayments({
  client: (tenant) => createClient({ baseUrl: '', apiKey: tenant }),
  store,
  credit: (payment) => payment.amount ?? 0,
});
declare const own: PaymentClient<{ reference: string; status: string; euros: number }>;
createPayments({
  client: own,
  store: memoryStore(),
  credit: ({ euros }, { tx }) => {
    same<typeof euros, number>(true);
    same<typeof tx, undefined>(true);
    return 'already_credited';
  },
});

// A credit that is declared elsewhere.
declare function creditOrder(
  payment: { readonly reference: string },
  context: CreditContext<Tx>,
): Promise<number>;
createPayments({ client, store, credit: creditOrder });
createPayments({ client, store, credit: () => 1n });
// @ts-expect-error the store gives another transaction
createPayments({ client, store: memoryStore(), credit: creditOrder });

// @ts-expect-error credit returns nothing
createPayments({ client, store, credit: () => undefined });
// @ts-expect-error credit returns nothing in the end
createPayments({ client, store, credit: async (_payment, { tx }) => void (await tx.query('')) });
// @ts-expect-error true is no number of rows
createPayments({ client, store, credit: () => true });
// @ts-expect-error a text is no number of rows
createPayments({ client, store, credit: () => '1' });
// @ts-expect-error a result object: its rowCount is the number of rows
createPayments({ client, store, credit: (_payment, { tx }) => tx.query('') });
// @ts-expect-error no store: an order would be credited twice
createPayments({ client, credit: () => 1 });
// @ts-expect-error no client: nobody asks the service
createPayments({ store, credit: () => 1 });
// @ts-expect-error a promise is no client
createPayments({ client: Promise.resolve(client), store, credit: () => 1 });
// @ts-expect-error a misspelt option
createPayments({ client, store, credit: () => 1, timeOut: 1 });

// A receiver takes payments in place of handlers, and code behind a gate gives them events.
createReceiver({ secret: '' }, payments);
declare const event: WebhookEvent;
void payments.receive(event).then(({ outcome }) => {
  same<typeof outcome, 'handled' | 'duplicate' | 'ignored'>(true);
});
void payments.receive(event, { signal: AbortSignal.timeout(1) });

void payments.settle('r', { tenant: 'acme' }).then(({ status, credited }) => {
  same<typeof status, 'pending' | 'success' | 'failed' | 'cancelled'>(true);
  same<typeof credited, boolean>(true);
});
// @ts-expect-error a number is no reference
void payments.settle(42);

void payments.reconcile(['r']);
void payments.reconcile(new Set(['r']), { cursor: undefined, tenant: false });
// @ts-expect-error a text is no list of references
void payments.reconcile('order-42');
// @ts-expect-error numbers are no references
void payments.reconcile([42]);
