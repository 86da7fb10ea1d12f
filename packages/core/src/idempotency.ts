/**
 * `@paylink/core/idempotency`: the contract of a store, and what is built on one. For authors of stores, and for code that credits
 * under the same store and key as a receiver.
 */
import { sha256 } from '#hmac';
import { isWellFormed } from './bytes.js';
import { check, fault, isWebhookError, type WebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';

export { keyedByTenant, onlyQueues, readTenant, type TenantOf, type TenantOption } from './tenant.js';
export { checkNames, readBound } from './option-checks.js';
export { withinBounds, type Bounds } from './deadline.js';
export { failureOf } from './failure.js';
export { onAbort } from './on-abort.js';
export { check, ConfigurationError, isWebhookError, WebhookError, type WebhookErrorOptions } from './errors.js';

/** How a store's `run` ended: the effect is durable, it was durable before, or another run of the key is under way. */
export type RunResult = 'done' | 'duplicate' | 'in_progress';

export interface RunOptions {
  /** When it is aborted, the store stops the work for good: nothing may take effect afterwards. See {@link onAbort}. */
  readonly signal: AbortSignal;
  /**
   * A digest of tenant and reference. Runs of one `turn` go one after the other, whatever their keys; a run that waits for its
   * turn never takes the result of another key. Without it only runs of the same key exclude each other.
   */
  readonly turn?: string | undefined;
}

/**
 * Remembers without end which keys are done. The service sends no delivery id and no timestamp, so a replay looks like a retry,
 * however late it comes.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- its members join those of the context, so a store that gives none needs the empty type
export interface IdempotencyStore<Scope extends object = {}> {
  /** Whether `key` is done: read before `confirm`, so that replays stay cheap. */
  isDone(key: string): Promise<boolean>;
  /**
   * Runs `work` unless `key` is done; `scope` reaches the handler's context. Only work that succeeds leaves a mark. What
   * `work` throws is thrown on as the same object.
   *
   * @throws WebhookError `nothing_written`, where the store can tell that the work changed nothing: the sender gets it as it
   * is. Any other error of the store itself becomes 503 `store_unavailable`.
   */
  run(key: string, work: (scope: Scope) => Promise<void>, options: RunOptions): Promise<RunResult>;
}

export interface TenantContext {
  /** The merchant whose order numbers these are, where the option `tenant` names one. */
  readonly tenant?: string | undefined;
}

/** A store, or a store with an identity of the merchant's own in place of tenant, kind and reference. */
export type IdempotencyOption<Scope extends object, Host = unknown, Event = WebhookEvent> =
  | IdempotencyStore<Scope>
  | {
      readonly store: IdempotencyStore<Scope>;
      /** Gives a string that is not empty and well-formed Unicode. The context is the host's, with `tenant` where that option is set. */
      readonly key: (event: Event, context: Host & TenantContext) => string;
    };

/** As much of an event as identifies it; `kind` of an unrecognized one. */
export interface IdentifiedEvent {
  readonly type: string;
  readonly kind?: string | undefined;
  readonly reference: string;
}

/** What a store is given of an event: two SHA-256 in hex, since a reference of 10 kB is over the limit of an index. */
export interface Identity {
  /** What is done once. */
  readonly key: string;
  /** What goes one after the other: every event of one tenant and reference. */
  readonly turn: string;
}

/** What is credited once. Never the signature, a header or a hash of the body: the same payment can come in other bytes. */
export interface Identified {
  /** The merchant whose order numbers these are; `false` or left out where there is only one. */
  readonly tenant?: string | false | undefined;
  /** The event's kind as it was sent, such as `payment.succeeded`. */
  readonly kind: string;
  readonly reference: string;
}

/**
 * Gives the key and the turn that a receiver gives its store for an event of this tenant, kind and reference. Marks that were
 * set without a tenant count for `tenant: false`.
 *
 * @throws ConfigurationError for a tenant that is an empty string.
 */
export async function identify({ tenant, kind, reference }: Identified): Promise<Identity> {
  check(tenant !== '', 'tenant', 'must not be empty');
  // As JSON, so that no two tenants and references spell the same text. A kind has no bracket, so neither form reads as the other.
  const identity = typeof tenant === 'string' ? JSON.stringify([tenant, kind, reference]) : `${kind}:${reference}`;
  return { key: await sha256(identity), turn: await turnOf(tenant, reference) };
}

/**
 * Gives the key of what the merchant's own function, the option `option`, gave for an event.
 *
 * @throws TypeError for what would also stand for other events: no string, an empty one, one with half a surrogate pair.
 */
export async function ownKey(identity: unknown, option: string): Promise<string> {
  if (typeof identity === 'string' && identity && isWellFormed(identity)) return sha256(identity);
  throw new TypeError(`${option} must give a string that is not empty and well-formed for every event`);
}

async function ownIdentity(key: () => unknown, tenant: string | undefined, reference: string): Promise<Identity> {
  return { key: await ownKey(key(), 'idempotency.key'), turn: await turnOf(tenant, reference) };
}

function turnOf(tenant: string | false | undefined, reference: string): string | Promise<string> {
  return sha256(JSON.stringify([typeof tenant === 'string' ? tenant : null, reference]));
}

/** The option as a receiver uses it. */
export interface Idempotency<Scope extends object, Host, Event> {
  readonly store: IdempotencyStore<Scope>;
  /** Whether the merchant gives the identity. */
  readonly hasKey: boolean;
  identify(event: Event, host: Host, tenant: string | undefined): Promise<Identity>;
}

/** Checks the option at set-up. @throws ConfigurationError */
export function readIdempotency<Scope extends object, Host, Event extends IdentifiedEvent>(
  option: IdempotencyOption<Scope, Host, Event>,
): Idempotency<Scope, Host, Event> {
  const { store, key }: Partial<Exclude<typeof option, IdempotencyStore<Scope>>> = isStore(option)
    ? { store: option }
    : (option ?? {});
  check(
    isStore<Scope>(store) && (isStore(option) || typeof key === 'function'),
    'idempotency',
    'must be a store, or { store, key } with a function `key`',
  );
  return {
    store,
    hasKey: key !== undefined,
    identify(event, host, tenant) {
      const { type, kind, reference } = event;
      if (key === undefined) return identify({ tenant, kind: type === 'unrecognized' ? kind! : type, reference });
      return ownIdentity(() => key(event, { ...host, ...(tenant !== undefined && { tenant }) }), tenant, reference);
    },
  };
}

function isStore<Scope extends object>(value: unknown): value is IdempotencyStore<Scope> {
  const store = value as Partial<IdempotencyStore<Scope>> | null | undefined;
  return typeof store?.run === 'function' && typeof store.isDone === 'function';
}

/**
 * Runs `work` under the key, and takes nothing for done that is not.
 *
 * @throws what `work` threw, as the same object; WebhookError `in_progress`, `nothing_written`, or `store_unavailable` for
 * whatever else fails.
 */
export async function runOnce<Scope extends object>(
  store: IdempotencyStore<Scope>,
  key: string,
  work: (scope: Scope) => Promise<void>,
  options: RunOptions,
): Promise<'done' | 'duplicate'> {
  // Of the last run: a store may run the work again, after a serialisation failure for one.
  let succeeded = false;
  const thrown = new Set<unknown>();
  const watched = async (scope: Scope): Promise<void> => {
    succeeded = false;
    thrown.clear();
    try {
      await work(scope);
      succeeded = true;
    } catch (error) {
      thrown.add(error);
      throw error;
    }
  };

  let result: RunResult;
  try {
    result = await store.run(key, watched, options);
  } catch (error) {
    if (thrown.has(error) || (isWebhookError(error) && error.code === 'nothing_written')) throw error;
    throw unavailable(error);
  }
  if (result === 'in_progress')
    throw fault(result, 'another delivery of the same event, or of the same reference, is being handled');
  // A store that says done for work that failed or never ran would acknowledge what did not happen.
  if (result === 'duplicate' || (result === 'done' && succeeded)) return result;
  throw unavailable(new Error('the store said done, but the work has not succeeded'));
}

/** Whether the key is done. @throws WebhookError `store_unavailable`. */
export async function isDone(store: Pick<IdempotencyStore, 'isDone'>, key: string): Promise<boolean> {
  try {
    const done: unknown = await store.isDone(key);
    if (typeof done === 'boolean') return done;
    throw new TypeError('isDone gave no boolean');
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(cause: unknown): WebhookError {
  return fault('store_unavailable', 'the idempotency store failed', cause);
}
