import { check, fault } from './errors.js';
import type { ConfiguredEvent, KnownEvent, PayloadOf } from './event.js';
import type { UnrecognizedEvent, WebhookEvent } from './event.js';
import { DeliveryContext } from './delivery-context.js';
import { requireSuccess } from './result.js';
import type { EventSchemas, StandardSchema } from './schema.js';
import { withinBounds } from './time-limit.js';

/** A handler's context, which contains the host's request and `signal`. */
export type HandlerContext<Host> = Host & {
  /** Aborts after `handlerTimeout`. The handler must then stop its work. */
  readonly signal: AbortSignal;
};

/**
 * Handles an event. Return to report success, or throw to report a failure. A handler cannot send
 * a reply itself. Some returned values count as failures too, such as an Error or a generator.
 */
export type Handler<Event, Context> = (event: Event, context: Context) => unknown;

type EventOf<Events extends EventSchemas, Kind> = Kind extends 'unrecognized'
  ? UnrecognizedEvent
  : KnownEvent<Kind & string, PayloadOf<Events, Kind & string>>;

/** Only `payment.succeeded` must have a handler. */
type KindsOf<Events> = Partial<Events> & {
  readonly 'payment.succeeded': unknown;
  readonly unrecognized?: unknown;
};

/**
 * A handler for each kind. If `unrecognized` is missing, the receiver acknowledges signed events of
 * unrecognized kinds. One mapped type, because TypeScript 5.5 cannot infer through intersections.
 */
export type HandlerMap<Events extends EventSchemas, Context> = {
  readonly [Kind in keyof KindsOf<Events>]: Handler<EventOf<Events, Kind>, Context>;
};

/** A map from kind to handler, or one handler for every configured kind (`payments.receive`). */
export type Handlers<Events extends EventSchemas, Host> =
  | HandlerMap<NoInfer<Events>, HandlerContext<Host>>
  | Handler<ConfiguredEvent<NoInfer<Events>>, HandlerContext<Host>>;

type AnyHandler = Handler<WebhookEvent, object>;
type Kinds = ReadonlyMap<string, StandardSchema | undefined>;

/** Runs the handler of an event. @throws the handler's error, or WebhookError `handler_timeout` */
export type RunHandler = (event: WebhookEvent, host: object) => Promise<Outcome>;
type Outcome = 'handled' | 'ignored';

/** @throws ConfigurationError that names the handler and the problem */
export function createRunner(handlers: unknown, kinds: Kinds, handlerTimeout: number): RunHandler {
  const handlerOf = handlerFinder(handlers, kinds);
  return async (event, host) => {
    const handler = handlerOf(event.type);
    if (handler === undefined) return 'ignored';
    const context = new DeliveryContext(host);
    const returned = handler(event, context);
    // A handler that has returned needs no timer.
    requireSuccess(
      isPromise(returned) ? await settled(returned, context, handlerTimeout) : returned,
    );
    return 'handled';
  };
}

// Queries of some ORMs run at their first `then`.
function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

function settled(
  running: PromiseLike<unknown>,
  context: DeliveryContext,
  handlerTimeout: number,
): Promise<unknown> {
  const reason = (): Error => {
    const error = fault('handler_timeout', `the handler took longer than ${handlerTimeout} ms`);
    DeliveryContext.abortOf(context)!.abort(error);
    return error;
  };
  return withinBounds(running, { milliseconds: handlerTimeout, reason });
}

function handlerFinder(handlers: unknown, kinds: Kinds): (type: string) => AnyHandler | undefined {
  if (typeof handlers === 'function') {
    return (type) => (type === 'unrecognized' ? undefined : (handlers as AnyHandler));
  }
  const isMap = typeof handlers === 'object' && handlers !== null;
  check(isMap, 'handlers', 'must be a map from event kind to function, or a function');
  // A Map never returns an inherited name (`constructor`, `__proto__`) as a handler.
  const map = new Map(Object.entries(handlers) as [string, AnyHandler][]);
  for (const [kind, handler] of map) {
    const option = `handlers['${kind}']`;
    const isKind = kind === 'unrecognized' || kinds.has(kind);
    const problem = `is not for a configured kind. Configured kinds: ${[...kinds.keys()].join(', ')}`;
    const fix = kind === 'receive' ? 'Pass `payments.receive`' : 'The option `events` adds more';
    check(isKind, option, `${problem}. ${fix}`);
    check(typeof handler === 'function', option, 'must be a function');
  }
  const option = "handlers['payment.succeeded']";
  check(map.has('payment.succeeded'), option, 'is missing: payments would be lost');
  return (type) => map.get(type);
}
