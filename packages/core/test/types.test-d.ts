/** What must compile, and what must not. `pnpm types` checks this file; nothing runs it. */
import { z } from 'zod';
import {
  cachedSecret,
  createGate,
  createReceiver,
  createVerifier,
  verifySignature,
} from '../src/index.js';
import type { NoEvents, Receiver, Reply, WebhookErrorCode, WebhookEvent } from '../src/index.js';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(equal: Equal<A, B>): boolean => equal;

const secret: string | undefined = process.env['WEBHOOK_SECRET'];
const bytes = new Uint8Array();
const noop = () => undefined;
const refunded = z.object({ reference: z.string(), refund_id: z.string() });
const events = { 'payment.refunded': refunded };

// The secret, in all its forms.
createVerifier({ secret });
createVerifier({ secret: [secret, bytes] });
createVerifier({ secret: () => ({ secret, tenant: null }) });
createVerifier({
  secret: ({ id }: { id: string }) => Promise.resolve({ secret: [id, bytes], tenant: id }),
});
// @ts-expect-error the option must be named, also if its value may be undefined
createVerifier({});
// @ts-expect-error a number is not a secret
createVerifier({ secret: 42 });
// @ts-expect-error a function says whose secret it gives
createVerifier({ secret: () => 'a-secret' });
// @ts-expect-error one merchant is `tenant: null`
createVerifier({ secret: () => ({ secret, tenant: undefined }) });

// Only bytes can be verified.
const verifier = createVerifier({ secret, events });
// @ts-expect-error a parsed body has no bytes
void verifier.verify({ reference: 'a' }, {});
// @ts-expect-error a text has other bytes
void verifier.verify('{}', {});
// @ts-expect-error a text has other bytes
void verifySignature('{}', '', 'secret');
same<ReturnType<typeof verifySignature>, Promise<void>>(true);

// The union narrows on `type`.
void verifier.verify(bytes, {}).then((event) => {
  if (event.type === 'payment.refunded') {
    same<typeof event.payload, { reference: string; refund_id: string }>(true);
  }
  if (event.type === 'payment.succeeded') {
    same<typeof event.payload.reference, string>(true);
    // An amount of the body cannot be credited by accident.
    same<(typeof event.payload)['amount'], unknown>(true);
    // @ts-expect-error unknown, not a number
    const amount: number = event.payload['amount'];
    void amount;
  }
  if (event.type === 'unrecognized') same<typeof event.kind, string>(true);
  same<typeof event.tenant, string | null>(true);
  // @ts-expect-error only an unrecognized event has a kind
  void event.kind;
  // @ts-expect-error this kind is not configured
  if (event.type === 'payment.failed') return;
});

// Handlers by kind.
const receiver = createReceiver(
  { secret, events, handlerTimeout: 1_000 },
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
same<typeof receiver, Receiver<object>>(true);
createReceiver({ secret }, (event) => {
  same<typeof event.type, 'payment.succeeded'>(true);
});
createReceiver({ secret, events }, (event) => {
  same<typeof event.type, 'payment.succeeded' | 'payment.refunded'>(true);
});
// @ts-expect-error a map needs payment.succeeded
createReceiver({ secret }, {});
// @ts-expect-error a misspelt kind
createReceiver({ secret }, { 'payment.succeeded': noop, 'payment.succeded': noop });
// @ts-expect-error a kind without a schema
createReceiver({ secret }, { 'payment.succeeded': noop, 'payment.refunded': noop });
// @ts-expect-error handlers that are undefined
createReceiver({ secret }, undefined);
// @ts-expect-error a misspelt option
createReceiver({ secret, handlerTimout: 1_000 }, () => undefined);
// @ts-expect-error the tenant comes from the `secret` function
createReceiver({ secret, tenant: 'acme' }, () => undefined);
// @ts-expect-error the client is an option of createPayments
createReceiver({ secret, client: {} }, () => undefined);
createReceiver({ secret, onError: (error: unknown) => error }, () => undefined);
// @ts-expect-error a gate has no handler that could fail
createGate({ secret, onError: () => undefined });

// A function for every event, such as payments.receive.
declare const payments: {
  readonly receive: (event: WebhookEvent, context?: { signal?: AbortSignal }) => Promise<void>;
};
createReceiver({ secret }, payments.receive);
// @ts-expect-error the object has no handler
createReceiver({ secret }, payments);

// `secret` and the handlers get the host's context.
interface Host {
  readonly path: string;
}
createReceiver(
  { secret: ({ path }: Host) => ({ secret: path, tenant: path }) },
  (_event, { path, signal }) => [path, signal.aborted],
);
createReceiver<NoEvents, Host>({ secret }, (_event, context) => {
  same<typeof context, Host & { readonly signal: AbortSignal }>(true);
  // @ts-expect-error a handler cannot respond
  void context.res;
});
cachedSecret(({ path }: Host) => ({ secret: path, tenant: path }), {
  key: ({ path }) => path,
  ttl: 1,
});
// @ts-expect-error without a key, two merchants would share a secret
cachedSecret(({ path }: Host) => ({ secret: path, tenant: path }), { ttl: 1 });

// A gate.
const gate = createGate({ secret, unrecognized: 'pass' });
const unread = { header: () => undefined, body: () => Promise.resolve(bytes) };
void gate.admit(unread, {}, {}).then((reply) => {
  same<typeof reply, Reply | undefined>(true);
});
// @ts-expect-error a gate runs no handler
createGate({ secret, handlerTimeout: 1 });
// @ts-expect-error a gate does not receive
void gate.receive;

same<WebhookEvent['type'], 'payment.succeeded' | 'unrecognized'>(true);
const code: WebhookErrorCode = 'invalid_signature';
void code;
