/** Types are part of the product: what must compile, and what must not. Checked by `pnpm types`, never run. */
import { z } from 'zod';
import {
  createReceiver,
  createVerifier,
  memoryStore,
  verifySignature,
  type IdempotencyStore,
  type WebhookErrorCode,
  type WebhookEvent,
} from '../src/index.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(equal: Equal<A, B>): boolean => equal;

const secret: string | undefined = process.env['WEBHOOK_SECRET'];
const bytes = new Uint8Array();
const refunded = z.object({ reference: z.string(), refund_id: z.string() });
const events = { 'payment.refunded': refunded };
const confirm = { getPayment: (_reference: string) => Promise.resolve({ reference: '', status: 'success' as const, amount: 1 }) };
declare const store: IdempotencyStore<{ tx: { query(sql: string): Promise<void> } }>;

// The secret, in all its forms.
createVerifier({ secret });
createVerifier({ secret: [secret, bytes] });
createVerifier({ secret: () => Promise.resolve(secret) });
createVerifier({ secret: ({ tenant }: { tenant: string }) => [tenant, bytes] });
// @ts-expect-error the option must be named, also when its value may be missing
createVerifier({});
// @ts-expect-error a number is no secret
createVerifier({ secret: 42 });

// Only bytes can be verified.
const verifier = createVerifier({ secret, events });
// @ts-expect-error a parsed body has no bytes
void verifier.verify({ reference: 'a' }, {});
// @ts-expect-error a text has other bytes
void verifier.verify('{}', {});
// @ts-expect-error nor has it here
void verifySignature('{}', '', 'secret');
same<Awaited<ReturnType<typeof verifySignature>>, undefined>;

// The union narrows on `type`.
void verifier.verify(bytes, {}).then((event) => {
  if (event.type === 'payment.refunded') same<typeof event.payload, { reference: string; refund_id: string }>(true);
  if (event.type === 'payment.succeeded') {
    same<typeof event.payload.reference, string>(true);
    // An amount of the body cannot be credited by accident: it is unknown.
    same<(typeof event.payload)['amount'], unknown>(true);
    // @ts-expect-error not a number
    const amount: number = event.payload['amount'];
    void amount;
  }
  if (event.type === 'unrecognized') same<typeof event.kind, string>(true);
  // @ts-expect-error only an unrecognized event has a kind of its own
  void event.kind;
  // @ts-expect-error no kind of this name is configured
  if (event.type === 'payment.failed') return;
});

// Handlers by kind.
createReceiver(
  { secret, events },
  {
    'payment.succeeded': ({ type, reference }, { signal }) => {
      same<typeof type, 'payment.succeeded'>(true);
      same<typeof reference, string>(true);
      same<typeof signal, AbortSignal>(true);
    },
    'payment.refunded': ({ payload }) => payload.refund_id,
    unrecognized: ({ kind }) => kind,
  },
);
createReceiver({ secret }, (event) => {
  same<typeof event.type, 'payment.succeeded'>(true);
});
// @ts-expect-error a map needs payment.succeeded
createReceiver({ secret }, {});
// @ts-expect-error a misspelt kind
createReceiver({ secret }, { 'payment.succeeded': () => undefined, 'payment.succeded': () => undefined });
// @ts-expect-error a kind without a schema
createReceiver({ secret }, { 'payment.succeeded': () => undefined, 'payment.refunded': () => undefined });
// @ts-expect-error handlers that are undefined
createReceiver({ secret }, undefined);
// @ts-expect-error a misspelt option
createReceiver({ secret, idempotancy: memoryStore() }, () => undefined);

// `payment` is there with `confirm` only, a store's scope with `idempotency` only.
createReceiver({ secret, confirm, idempotency: store }, (_event, { payment, tx }) => {
  same<typeof payment.amount, number>(true);
  return tx.query('');
});
createReceiver({ secret, idempotency: { store, key: ({ reference }) => reference } }, (_event, { tx }) => tx.query(''));
createReceiver({ secret, idempotency: memoryStore() }, () => undefined);
createReceiver(
  { secret, idempotency: { store, key: ({ reference }, { tenant }) => `${tenant}/${reference}` }, tenant: 'acme' },
  (_event, { tx, tenant }) => {
    same<typeof tenant, string | undefined>(true);
    return tx.query('');
  },
);
// `secret`, `tenant` and `key` see the host's context, which the adapter types.
const byPath = (host: { readonly path: string }): string => host.path;
createReceiver({ secret: byPath, tenant: byPath }, (_event, context: { readonly path: string }) => context.path);
// @ts-expect-error a tenant that is no string
createReceiver({ secret, tenant: () => 7 }, () => undefined);
// @ts-expect-error no payment without `confirm`
createReceiver({ secret, idempotency: store }, (_event, { payment }) => payment);
// @ts-expect-error no tx without a store that has one
createReceiver({ secret, confirm, idempotency: memoryStore() }, (_event, { tx }) => tx);
// @ts-expect-error what cannot tell a status cannot confirm
createReceiver({ secret, confirm: { getPayment: () => Promise.resolve({ reference: '' }) } }, () => undefined);

// A gate: nothing runs around what comes after it.
const gate = createReceiver({ secret, events });
void gate.admit({ header: () => undefined, body: () => Promise.resolve(bytes) }, {}).then(({ event }) => {
  if (event !== undefined) same<typeof event.type, 'payment.refunded' | 'payment.succeeded'>(true);
});
const passing = createReceiver({ secret, unrecognized: 'pass' });
void passing.admit({ header: () => undefined, body: () => Promise.resolve(bytes) }, {}).then(({ event }) => {
  if (event !== undefined) same<typeof event.type, 'payment.succeeded' | 'unrecognized'>(true);
});
// @ts-expect-error `confirm` needs handlers
createReceiver({ secret, confirm });
// @ts-expect-error `idempotency` needs handlers
createReceiver({ secret, idempotency: memoryStore() });
// @ts-expect-error nor has a gate a use for `tenant`
createReceiver({ secret, tenant: 'acme' });
// @ts-expect-error a gate does not receive
void gate.receive;

same<WebhookEvent['type'], 'payment.succeeded' | 'unrecognized'>(true);
const code: WebhookErrorCode = 'invalid_signature';
void code;

// A function that makes the source at its first use types the payment too.
createReceiver({ secret, confirm: () => confirm }, (_event, { payment }) => {
  same<typeof payment.amount, number>(true);
});
// @ts-expect-error a function that gives no source
createReceiver({ secret, confirm: () => ({}) }, () => undefined);
