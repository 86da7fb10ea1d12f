import { check } from './errors.js';
import type { ConfiguredEvent, KnownEvent, PayloadOf, UnrecognizedEvent, WebhookEvent } from './event.js';
import type { TenantContext } from './idempotency.js';
import type { EventSchemas } from './schema.js';

/** What a handler is given besides the event. `payment` is there with `confirm` only, a store's scope with `idempotency`. */
export type HandlerContext<Payment, Scope, Host> = {
  /** Aborted when `handlerTimeout` has passed: whatever is still under way must stop. */
  readonly signal: AbortSignal;
} & TenantContext &
  ([Payment] extends [never] ? unknown : { readonly payment: Payment }) &
  ([Scope] extends [never] ? unknown : Scope) &
  Host;

export type Handler<Event, Context> = (event: Event, context: Context) => unknown;

/** The event that the handler of a kind gets. */
type EventOf<Events extends EventSchemas, Kind extends string> = Kind extends 'unrecognized'
  ? UnrecognizedEvent
  : KnownEvent<Kind, PayloadOf<Events, Kind>>;

/** A handler for each kind. Without `unrecognized`, signed events of other kinds are acknowledged and ignored. */
export type HandlerMap<Events extends EventSchemas, Context> = {
  readonly 'payment.succeeded': Handler<EventOf<Events, 'payment.succeeded'>, Context>;
} & {
  readonly [Kind in Exclude<keyof Events & string, 'payment.succeeded'> | 'unrecognized']?: Handler<EventOf<Events, Kind>, Context>;
};

/** A map from kind to handler, or one handler for every configured kind. */
export type Handlers<Events extends EventSchemas, Context> =
  HandlerMap<Events, Context> | Handler<ConfiguredEvent<Events>, Context>;

/** What `createReceiver` and each adapter take as handlers. Only the options say what kinds and what context there are. */
export type ReceiverHandlers<Events extends EventSchemas, Payment, Scope, Host> = Handlers<
  Settled<Events>,
  HandlerContext<Settled<Payment>, Settled<Scope>, Host>
>;

/** As `NoInfer`, whose name an editor would show at all that a handler is given. */
type Settled<T> = [T][T extends unknown ? 0 : never];

/** What an adapter gives a handler of its host: the means to respond only where no store holds the reply back until its commit. */
export type HostContext<Scope, Always, Responding> = Always & ([Scope] extends [never] ? Responding : unknown);

/** A handler as the receiver sees it: which events and what context it takes is between its author and the types. */
export type AnyHandler = Handler<WebhookEvent, object>;

/** How to fix a kind that is not configured: the configured one that begins alike, and all of them. */
function fixOf(kind: string, kinds: readonly string[]): string {
  const alike = kinds.find((known) => known.startsWith(kind.slice(0, Math.ceil(kind.length * 0.7))));
  return `${alike === undefined ? '.' : `: did you mean '${alike}'?`} Configured kinds: ${kinds.join(', ')}; others need \`events\``;
}

/** Checks and copies the handlers at set-up, and gives the one for an event type, if there is one. */
export function readHandlers(handlers: unknown, kinds: ReadonlyMap<string, unknown>): (type: string) => AnyHandler | undefined {
  if (typeof handlers === 'function') return (type) => (type === 'unrecognized' ? undefined : (handlers as AnyHandler));
  check(typeof handlers === 'object' && handlers !== null, 'handlers', 'must be a function or a map from event kind to function');
  // A Map, so that no inherited name (`constructor`, `__proto__`) is ever a handler.
  const map = new Map(Object.entries(handlers) as [string, AnyHandler][]);
  for (const [kind, handler] of map) {
    const option = `handlers['${kind}']`;
    check(kind === 'unrecognized' || kinds.has(kind), option, `is for no configured kind${fixOf(kind, [...kinds.keys()])}`);
    check(typeof handler === 'function', option, 'must be a function');
  }
  check(map.has('payment.succeeded'), "handlers['payment.succeeded']", 'is missing, so payments would be acknowledged and lost');
  return (type) => map.get(type);
}
