import { WebhookError } from '@paylink/core';
import { check, checkSignal, failureOf } from '@paylink/core/internal';
import type { Handled, UnrecognizedEvent } from '@paylink/core';
import { ask, type ServicePayment } from './ask.js';
import { creditOnce, type Credited, type Paid } from './credit.js';
import { identify, validateTenant } from './identity.js';
import { discardFailed, keepFailed, type Delivered } from './inbox.js';
import { withLimit } from './limits.js';
import { observed } from './observe.js';
import type { Payments } from './payments.js';
import { hasMark, runOnce } from './run-once.js';
import { SUCCEEDED, type AnyEvent, type Settings } from './settings.js';

interface Run extends Delivered {
  readonly signal: AbortSignal;
}

/** Credits the order of a verified event, or runs the handler of its kind. */
export async function receive<Tx, Payment extends ServicePayment>(
  settings: Settings<Tx, Payment>,
  event: AnyEvent,
  context: Parameters<Payments['receive']>[1] = {},
): Promise<Handled> {
  check(typeof event === 'object' && event !== null, 'event', 'must be a verified event');
  // Reads own properties only, because an inherited tenant would give the order another key.
  const own = Object.assign({ __proto__: null }, event) as Partial<UnrecognizedEvent>;
  const { signal } = Object.assign({ __proto__: null }, context) as typeof context;
  checkSignal(signal);
  const kind: unknown = own.type === 'unrecognized' ? own.kind : own.type;
  check(typeof kind === 'string' && kind !== '', 'event', 'must have a type');
  const tenant = validateTenant(own.tenant);
  const milliseconds = signal === undefined ? settings.timeout : undefined;
  const facts = { source: 'webhook', kind, reference: own.reference!, tenant } as const;
  const outcome = await observed(settings.observe, facts, () =>
    withLimit({ milliseconds, signal, code: 'handler_timeout' }, (limit) => {
      const run = { event, kind, tenant, signal: limit };
      return kind === SUCCEEDED ? credit(settings, run) : handle(settings, run);
    }),
  ).catch((error: unknown) => {
    keepFailed(settings, { event, kind, tenant }, error);
    throw error;
  });
  if (outcome !== 'in_progress') return { outcome };
  const message = 'another delivery of the same order is under way';
  throw new WebhookError('in_progress', { message });
}

async function credit<Tx, Payment extends ServicePayment>(
  settings: Settings<Tx, Payment>,
  { event: { reference }, kind, tenant, signal }: Run,
): Promise<Credited | 'ignored'> {
  const identity = await identify({ tenant, kind, reference });
  signal.throwIfAborted();
  if (await hasMark(settings.store, identity)) return 'duplicate';
  signal.throwIfAborted();
  const payment = await ask(settings.clientOf, reference, { signal, tenant });
  if (payment.status === 'failed' || payment.status === 'cancelled') {
    discardFailed(settings, identity);
    return 'ignored';
  }
  if (payment.status === 'pending') {
    const message = 'the service says that the payment is pending';
    throw new WebhookError('payment_pending', { message });
  }
  signal.throwIfAborted();
  const context = { signal, tenant, source: 'webhook' } as const;
  return creditOnce(settings, payment as Paid<Payment>, identity, context);
}

async function handle<Tx, Payment extends ServicePayment>(
  { store, handlers }: Settings<Tx, Payment>,
  { event, kind, tenant, signal }: Run,
): Promise<Credited | 'ignored'> {
  const handler = handlers.get(kind);
  if (handler === undefined) return 'ignored';
  const identity = await identify({ tenant, kind, reference: event.reference });
  signal.throwIfAborted();
  const work = async (tx: Tx): Promise<void> => {
    const failure = failureOf(await handler(event, { tx, signal, tenant }));
    if (failure !== undefined) throw failure;
  };
  const result = await runOnce(store, identity, work, signal);
  return result === 'done' ? 'handled' : result;
}
