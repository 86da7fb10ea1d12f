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

/** The context of a handler: the request's side of its host, and `signal`. */
export type HandlerContext<Host> = Host & {
  /** Aborted after `handlerTimeout`: stop all work that is still running. */
  readonly signal: AbortSignal;
};

/**
 * Handles an event. Success is a return, failure is a throw: a handler cannot respond. See `failureOf`
 * for returned values that mean failure.
 */
export type Handler<Event, Context> = (event: Event, context: Context) => unknown;

/** The event that the handler of a kind gets. */
type EventOf<Events extends EventSchemas, Kind extends string> = Kind extends 'unrecognized'
  ? UnrecognizedEvent
  : KnownEvent<Kind, PayloadOf<Events, Kind>>;

/** A handler per kind. Without `unrecognized`, signed events of other kinds are acknowledged. */
export type HandlerMap<Events extends EventSchemas, Context> = {
  readonly 'payment.succeeded': Handler<EventOf<Events, 'payment.succeeded'>, Context>;
} & {
  readonly [Kind in Exclude<keyof Events & string, 'payment.succeeded'> | 'unrecognized']?: Handler<
    EventOf<Events, Kind>,
    Context
  >;
};

/** How a delivery ended that was not refused. */
export interface Handled {
  readonly outcome: 'handled' | 'duplicate' | 'ignored';
}

/** Takes every event of a configured kind, and says how it ended. `createPayments` returns one. */
export interface EventReceiver {
  /** An own property: configures these kinds beside those of the option `events`. */
  readonly kinds?: readonly string[] | undefined;
  receive(event: WebhookEvent, context: { readonly signal: AbortSignal }): Promise<Handled>;
}

/** A map from kind to handler, one handler for every configured kind, or an event receiver. */
export type Handlers<Events extends EventSchemas, Host> =
  | HandlerMap<Settled<Events>, HandlerContext<Host>>
  | Handler<ConfiguredEvent<Settled<Events>>, HandlerContext<Host>>
  | EventReceiver;

/** As `NoInfer`, which an editor would show in the type of each handler. */
type Settled<T> = [T][T extends unknown ? 0 : never];

/** The handlers, checked once. */
export interface HandlerSet {
  /** Whether an event receiver decides what a signed status means that contradicts the header. */
  readonly decidesStatus: boolean;
  /** The configured kinds, with those of an event receiver. */
  readonly kinds: Kinds;
  /** Runs the handler of an event. @throws the handler's error, or WebhookError `handler_timeout`. */
  readonly run: (event: WebhookEvent, host: object) => Promise<Handled['outcome']>;
}

type AnyHandler = Handler<WebhookEvent, object>;

type Kinds = ReadonlyMap<string, StandardSchema | undefined>;

/** @throws ConfigurationError that names the handler and the fault. */
export function validateHandlers(
  handlers: unknown,
  configured: Kinds,
  handlerTimeout: number,
): HandlerSet {
  const receiver = isEventReceiver(handlers) ? handlers : undefined;
  const kinds = new Map([...kindsOf(receiver), ...configured]);
  const handlerOf =
    receiver === undefined ? handlerFinder(handlers, kinds) : receivingHandler(receiver);
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
  // It may mean that nothing was done, as the `in_progress` of a store.
  throw fault('handler_failed', `receive() must give an outcome of ${OUTCOMES.join(', ')}`);
}

function receivingHandler(receiver: EventReceiver) {
  const handler = (event: WebhookEvent, context: object): unknown =>
    receiver.receive(event, context as { signal: AbortSignal });
  return (type: string) => (type === 'unrecognized' ? undefined : handler);
}

/** Whether it has a method `receive`, own or of its class, but not of a polluted Object.prototype. */
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
  // A Map, so that an inherited name (`constructor`, `__proto__`) is never a handler.
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

/** The configured kind that begins alike, and all configured kinds. */
function hintFor(kind: string, kinds: readonly string[]): string {
  const start = kind.slice(0, Math.ceil(kind.length * 0.7));
  const alike = kinds.find((known) => known.startsWith(start));
  const guess = alike === undefined ? '' : ` (did you mean '${alike}'?)`;
  return `${guess}. Configured kinds: ${kinds.join(', ')}. The option \`events\` adds more`;
}
