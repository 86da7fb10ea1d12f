import { type KnownEvent } from '@paylink/core';
import {
  check,
  isEventKind,
  validateBound,
  createLogger,
  validateOptions,
} from '@paylink/core/internal';
import type { Logger, UnrecognizedEvent } from '@paylink/core';
import { validateClient, type ClientOf, type PaymentClient, type ServicePayment } from './ask.js';
import type { Credit, CreditContext } from './credit.js';
import type { PaymentOutcome } from './observe.js';
import type { Inbox } from './inbox.js';
import type { PaymentStore } from './payment-store.js';

/** A verified event of any kind. Your schemas determine the shape of its payload. */
export type AnyEvent = KnownEvent<string, unknown> | UnrecognizedEvent;

/** Handles an event of another kind once, in the same store. The kind's name is not confirmed. */
export type KindHandler<Tx> = (
  event: AnyEvent,
  context: Omit<CreditContext<Tx>, 'source'>,
) => unknown;

/** Like `NoInfer`, but editors do not show the name. */
type Settled<T> = [T][T extends unknown ? 0 : never];

export interface PaymentsOptions<Tx, Payment extends ServicePayment> {
  /**
   * Confirms each payment before the credit: a client, or a function that returns one. The first
   * use of each tenant calls the function.
   */
  readonly client:
    PaymentClient<Payment> | ((tenant: string | undefined) => PaymentClient<Payment>);
  /** Commits a credit and its mark together, for example `postgresStore(pool)`. */
  readonly store: PaymentStore<Tx>;
  /** Credits one order and returns the number of changed rows. */
  readonly credit: Credit<Settled<Tx>, Settled<Payment>>;
  /** Handlers of other kinds. The receiver acknowledges events without a handler. */
  readonly handlers?: Readonly<Record<string, KindHandler<Settled<Tx>>>> | undefined;
  /**
   * Milliseconds for `receive` without a signal, and for each step of `settle` and `reconcile`:
   * reading the store, asking the service, crediting. Default 25,000.
   */
  readonly timeout?: number | undefined;
  /** Gets each payment that `settle` or `reconcile` could not credit. Default: `console`. */
  readonly logger?: Logger | undefined;
  /** Called once per `receive`, and once per credit that `settle` or `reconcile` starts. */
  readonly observe?: ((outcome: PaymentOutcome) => unknown) | undefined;
}

/** The validated options. */
export interface Settings<Tx, Payment extends ServicePayment> {
  readonly clientOf: ClientOf<Payment>;
  readonly store: PaymentStore<Tx>;
  /** The store's inbox. */
  readonly inbox: Inbox | undefined;
  readonly credit: Credit<Tx, Payment>;
  readonly handlers: ReadonlyMap<string, KindHandler<Tx>>;
  readonly timeout: number;
  readonly logger: Logger;
  readonly observe: PaymentsOptions<Tx, Payment>['observe'];
}

export const SUCCEEDED = 'payment.succeeded';
const NAMES = ['client', 'store', 'credit', 'handlers', 'timeout', 'logger', 'observe'];

/** @throws ConfigurationError that names the option */
export function validateSettings<Tx, Payment extends ServicePayment>(
  options: PaymentsOptions<Tx, Payment>,
): Settings<Tx, Payment> {
  const { client, store, credit, handlers, timeout, logger, observe } = validateOptions(
    options,
    NAMES,
  );
  const { isDone, run } = Object(store) as Partial<PaymentStore<Tx>>;
  const isStore = typeof isDone === 'function' && typeof run === 'function';
  check(isStore, 'store', 'must be a store, such as postgresStore(pool) or memoryStore()');
  check(typeof credit === 'function', 'credit', 'must be a function');
  check(observe === undefined || typeof observe === 'function', 'observe', 'must be a function');
  return {
    clientOf: validateClient(client),
    store,
    inbox: validateInbox(store),
    credit,
    handlers: validateHandlers(handlers),
    timeout: validateBound('timeout', timeout ?? 25_000),
    logger: createLogger(logger),
    observe,
  };
}

function validateInbox({ inbox }: Pick<PaymentStore<never>, 'inbox'>): Inbox | undefined {
  const { inbox: inherited } = Object.prototype as { readonly inbox?: unknown };
  if (inbox === inherited) return undefined;
  const { keep, discard } = Object(inbox) as Partial<Inbox>;
  const isInbox = typeof keep === 'function' && typeof discard === 'function';
  check(isInbox, 'store.inbox', 'must be an inbox, or undefined');
  return inbox;
}

function validateHandlers<Tx>(
  handlers: Readonly<Record<string, KindHandler<Tx>>> = {},
): ReadonlyMap<string, KindHandler<Tx>> {
  const isMap = typeof handlers === 'object' && handlers !== null;
  check(isMap, 'handlers', 'must be an object from event kind to function');
  const map = new Map(Object.entries(handlers));
  for (const [kind, handler] of map) {
    const option = `handlers['${kind}']`;
    check(kind !== SUCCEEDED, option, 'must not be set: `credit` handles this kind');
    const isKind = isEventKind(kind) && kind !== 'unrecognized';
    check(isKind, option, 'must be an event kind of the service');
    check(typeof handler === 'function', option, 'must be a function');
  }
  return map;
}
