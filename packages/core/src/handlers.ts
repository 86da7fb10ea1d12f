import { check, fault } from './errors.js';
import type {
  ConfiguredEvent,
  KnownEvent,
  PayloadOf,
  UnrecognizedEvent,
  WebhookEvent,
} from './event.js';
import { failureOf } from './result.js';
import type { EventSchemas, StandardSchema } from './schema.js';
import { withTimeLimit, type TimeLimit } from './time-limit.js';

/** The context of a handler: the host's request, and `signal`. */
export type HandlerContext<Host> = Host & {
  /** Aborts after `handlerTimeout`. Stop all work that is still running. */
  readonly signal: AbortSignal;
};

/**
 * Handles an event. Returning means success and throwing means failure: a handler cannot respond.
 * `failureOf` lists the returned values that count as failures.
 */
export type Handler<Event, Context> = (event: Event, context: Context) => unknown;

/** The event passed to the handler of a kind. */
type EventOf<Events extends EventSchemas, Kind extends string> = Kind extends 'unrecognized'
  ? UnrecognizedEvent
  : KnownEvent<Kind, PayloadOf<Events, Kind>>;

/**
 * A handler per kind. Without `unrecognized`, the receiver acknowledges signed events of other
 * kinds.
 */
export type HandlerMap<Events extends EventSchemas, Context> = {
  readonly 'payment.succeeded': Handler<EventOf<Events, 'payment.succeeded'>, Context>;
} & {
  readonly [Kind in Exclude<keyof Events & string, 'payment.succeeded'> | 'unrecognized']?: Handler<
    EventOf<Events, Kind>,
    Context
  >;
};

/** The outcome of an accepted delivery. */
export interface Handled {
  readonly outcome: 'handled' | 'duplicate' | 'ignored';
}

/**
 * Takes every event of a configured kind and returns the outcome. `createPayments` returns an event
 * receiver.
 */
export interface EventReceiver {
  /** Kinds to configure in addition to the option `events`. Must be an own property. */
  readonly kinds?: readonly string[] | undefined;
  receive(event: WebhookEvent, context: { readonly signal: AbortSignal }): Promise<Handled>;
}

/** A map from kind to handler, one handler for every configured kind, or an event receiver. */
export type Handlers<Events extends EventSchemas, Host> =
  | HandlerMap<Settled<Events>, HandlerContext<Host>>
  | Handler<ConfiguredEvent<Settled<Events>>, HandlerContext<Host>>
  | EventReceiver;

/** Like `NoInfer`, but editors do not show the name in the type of each handler. */
type Settled<T> = [T][T extends unknown ? 0 : never];

/** The validated handlers. */
export interface HandlerSet {
  /** True if an event receiver judges events whose signed status contradicts the header. */
  readonly decidesStatus: boolean;
  /** The configured kinds, including the kinds of an event receiver. */
  readonly kinds: Kinds;
  /**
   * Runs the handler of an event.
   *
   * @throws the handler's error, or WebhookError `handler_timeout`
   */
  readonly run: (event: WebhookEvent, host: object) => Promise<Handled['outcome']>;
}

type AnyHandler = Handler<WebhookEvent, object>;

type Kinds = ReadonlyMap<string, StandardSchema | undefined>;

/** @throws ConfigurationError that names the handler and the fault */
export function validateHandlers(
  handlers: unknown,
  configured: Kinds,
  handlerTimeout: number,
): HandlerSet {
  const receiver = isEventReceiver(handlers) ? handlers : undefined;
  const kinds = new Map([...kindsOf(receiver), ...configured]);
  const receive = (event: WebhookEvent, context: object): unknown =>
    receiver?.receive(event, context as { signal: AbortSignal });
  const handlerOf = handlerFinder(receiver === undefined ? handlers : receive, kinds);
  return {
    decidesStatus: receiver !== undefined,
    kinds,
    async run(event, host) {
      const handler = handlerOf(event.type);
      if (handler === undefined) return 'ignored';
      const returned = await withTimeLimit(
        handlerTimeout,
        async (limit) => handler(event, contextOf(host, limit)),
        () => fault('handler_timeout', `the handler took longer than ${handlerTimeout} ms`),
      );
      const failure = failureOf(returned);
      if (failure !== undefined) throw failure;
      return receiver === undefined ? 'handled' : outcomeOf(returned);
    },
  };
}

function contextOf(host: object, limit: TimeLimit): HandlerContext<object> {
  return {
    ...host,
    get signal() {
      return limit.signal;
    },
  };
}

function kindsOf(receiver: EventReceiver | undefined): [string, undefined][] {
  if (receiver === undefined || !Object.hasOwn(receiver, 'kinds')) return [];
  return (receiver.kinds ?? []).map((kind) => [kind, undefined]);
}

const OUTCOMES = ['handled', 'duplicate', 'ignored'] as const;

function outcomeOf(returned: unknown): Handled['outcome'] {
  const { outcome } = Object(returned) as Partial<Handled>;
  if (outcome === undefined) return 'handled';
  const known = OUTCOMES.find((each) => each === outcome);
  if (known !== undefined) return known;
  // An unknown outcome may mean that nothing was done, such as a store's `in_progress`.
  throw fault('handler_failed', `receive() must return an outcome: ${OUTCOMES.join(', ')}`);
}

/**
 * Returns true if the value or its class has a method `receive`. Ignores a polluted
 * Object.prototype.
 */
function isEventReceiver(handlers: unknown): handlers is EventReceiver {
  if (typeof handlers !== 'object' || handlers === null) return false;
  if (Object.hasOwn(handlers, 'payment.succeeded')) return false;
  const { receive } = handlers as { readonly receive?: unknown };
  const { receive: polluted } = Object.prototype as { readonly receive?: unknown };
  return (
    typeof receive === 'function' && (Object.hasOwn(handlers, 'receive') || receive !== polluted)
  );
}

function handlerFinder(handlers: unknown, kinds: Kinds): (type: string) => AnyHandler | undefined {
  if (typeof handlers === 'function') {
    return (type) => (type === 'unrecognized' ? undefined : (handlers as AnyHandler));
  }
  const isMap = typeof handlers === 'object' && handlers !== null;
  check(isMap, 'handlers', 'must be a map from event kind to function, a function, or payments');
  // A Map never returns an inherited name (`constructor`, `__proto__`) as a handler.
  const map = new Map(Object.entries(handlers) as [string, AnyHandler][]);
  for (const [kind, handler] of map) {
    const option = `handlers['${kind}']`;
    const isKind = kind === 'unrecognized' || kinds.has(kind);
    check(isKind, option, `is not for a configured kind${hintFor(kind, [...kinds.keys()])}`);
    check(typeof handler === 'function', option, 'must be a function');
  }
  const option = "handlers['payment.succeeded']";
  check(map.has('payment.succeeded'), option, 'is missing: payments would be lost');
  return (type) => map.get(type);
}

/** Returns a hint with the configured kind that begins alike, and all configured kinds. */
function hintFor(kind: string, kinds: readonly string[]): string {
  const start = kind.slice(0, Math.ceil(kind.length * 0.7));
  const alike = kinds.find((known) => known.startsWith(start));
  const guess = alike === undefined ? '' : ` (did you mean '${alike}'?)`;
  return `${guess}. Configured kinds: ${kinds.join(', ')}. The option \`events\` adds more`;
}
