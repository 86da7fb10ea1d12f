/** From a proven event to its effect: tenant → already done? → confirm → run once → handler, all under one time limit. */
import { confirmPayment, readConfirm } from './confirm.js';
import { isPromise, settle } from './deadline.js';
import { Attempt } from './attempt.js';
import { check, type WebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';
import type { AnyHandler } from './handlers.js';
import { failureOf } from './failure.js';
import { toError } from './host-error.js';
import { isDone, readIdempotency, runOnce, type Identity } from './idempotency.js';
import type { AnyReceiverOptions } from './intake.js';
import { readBound } from './option-checks.js';
import { doesQueue, isKeyedByTenant, readTenant } from './tenant.js';

type HandlingOptions = Pick<AnyReceiverOptions, 'confirm' | 'handlerTimeout' | 'idempotency' | 'tenant'> & {
  readonly secret?: unknown;
};

/** How the handling of an event ended. */
export interface Handled {
  readonly outcome: 'handled' | 'duplicate' | 'ignored';
  /** What the handler returned. */
  readonly value?: unknown;
}

interface HandlingContext {
  /** As much of the host's context as the handler is given. Default: all of it. */
  readonly shown?: unknown;
  /** Ends an attempt as the end of its time does. */
  readonly signal?: AbortSignal | undefined;
  /** Of an event from a queue: in place of what the option says. */
  readonly tenant?: string | undefined;
}

export type Handle = (
  event: WebhookEvent,
  handler: AnyHandler,
  host: unknown,
  context?: HandlingContext,
) => Promise<Handled> | Handled;

export function createHandling(options: HandlingOptions, handlers: unknown): Handle {
  const { handlerTimeout = 25_000 } = options;
  readBound('handlerTimeout', handlerTimeout);
  const confirm = readConfirm(options.confirm);
  const idempotency = options.idempotency === undefined ? undefined : readIdempotency(options.idempotency);
  const tenantOf = readTenant(options.tenant);
  checkTenants(options, handlers, idempotency?.hasKey);
  checkQueued(options, handlers);
  const isPlain = confirm === undefined && idempotency === undefined && typeof options.tenant !== 'function';

  return (event, handler, host, { shown = host, signal: cancel, tenant: queuedTenant } = {}) => {
    const attempt = new Attempt();
    const callHandler = (extras: object): unknown =>
      // Not by spread, nowhere on the way of a delivery: V8 takes ten times as long to add a property to what that has made.
      attempt.step('handler_timeout', () => invoke(handler, event, attempt.withSignal(Object.assign({}, shown, extras))));

    const guarded = async (): Promise<Handled> => {
      const source = event.type === 'payment.succeeded' ? confirm : undefined;
      const tenant = queuedTenant ?? (await attempt.step('secret_unavailable', () => tenantOf(host)));
      let identity: Identity | undefined;
      if (idempotency !== undefined) {
        identity = await attempt.step('store_unavailable', () => idempotency.identify(event, host, tenant));
        // Saves the service a question. Without one the run itself finds a duplicate, one message earlier.
        if (source && (await attempt.step('store_unavailable', () => isDone(idempotency.store, identity!.key))))
          return { outcome: 'duplicate' };
      }
      let extras: object = tenant === undefined ? {} : { tenant };
      if (source !== undefined) {
        const ask = () => confirmPayment(source, event.reference, { signal: attempt.signal, tenant });
        const payment = await attempt.step('confirm_unavailable', ask);
        if (payment === undefined) return { outcome: 'ignored' };
        extras = Object.assign({}, extras, { payment });
      }
      if (idempotency === undefined) return handled(await callHandler(extras));

      let value: unknown;
      const work = async (scope: object): Promise<void> => {
        value = await callHandler(Object.assign({}, scope, extras));
        // What is left to wait for is the commit.
        attempt.waitingFor = 'store_unavailable';
      };
      const { key, turn } = identity!;
      const run = () => runOnce(idempotency.store, key, work, attempt.optionsOf(turn));
      const result = await attempt.step('store_unavailable', run);
      return result === 'done' ? handled(value) : { outcome: result };
    };

    const bare = (): Handled | Promise<Handled> => {
      const tenant = queuedTenant ?? tenantOf(host);
      const value = callHandler(tenant === undefined ? {} : { tenant });
      return isPromise(value) ? value.then(handled) : handled(value);
    };

    const reason = (aborted: AbortSignal | undefined): WebhookError =>
      attempt.expire(
        aborted === undefined ? `not done after ${handlerTimeout} ms; the sender may retry` : 'cancelled before its end',
      );
    if (cancel?.aborted) throw reason(cancel);
    return settle(isPlain ? bare : guarded, { milliseconds: handlerTimeout, signals: [cancel], reason });
  };
}

/** One merchant's order number must not count as another's, and nothing in the delivery says whose it is. */
function checkTenants({ secret, tenant, confirm, idempotency }: HandlingOptions, handlers: unknown, hasKey = false): void {
  if (typeof secret !== 'function' || tenant !== undefined) return;
  const keyed = isAny(handlers, isKeyedByTenant);
  // A key of the merchant's own speaks for the store; `confirm` still has to know by whose API key to ask.
  check(
    confirm === undefined && !keyed && (idempotency === undefined || hasKey),
    'tenant',
    'is missing: `secret` is a function, so deliveries may be of several merchants, and the order number of one would count as ' +
      "another's. Write `tenant: false` if there is one merchant, else `tenant: (context) => …`, which gives the id under which " +
      'the secret was found',
  );
}

/** The worker gives its store the same key: what the receiver has marked as done would never be credited. */
function checkQueued({ idempotency }: HandlingOptions, handlers: unknown): void {
  check(
    idempotency === undefined || !isAny(handlers, doesQueue),
    'idempotency',
    'must not be given to a handler that only queues the event: its mark would say done before the credit. Give it to the worker',
  );
}

function isAny(handlers: unknown, is: (handler: unknown) => boolean): boolean {
  return [handlers].concat(Object.values(handlers as object)).some(is);
}

function handled(value: unknown): Handled {
  return { outcome: 'handled', value };
}

/** Calls the handler, and lets only Errors out of it. */
function invoke(handler: AnyHandler, event: WebhookEvent, context: object): unknown {
  const rethrow = (error: unknown): never => {
    throw toError(error);
  };
  const accept = (value: unknown): unknown => {
    const failure = failureOf(value);
    return failure === undefined ? value : rethrow(failure);
  };
  try {
    const value = handler(event, context);
    // As a real promise: some libraries return an object that has only `then`.
    return isPromise(value) ? Promise.resolve(value).then(accept, rethrow) : accept(value);
  } catch (error) {
    return rethrow(error);
  }
}
