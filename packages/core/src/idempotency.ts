import { sha256 } from '#hmac';
import { check, fault, type WebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';

/** How a store's `run` ended: the work's effect is durable, was durable before, or somebody else is at it. */
export type RunResult = 'done' | 'duplicate' | 'in_progress';

/**
 * Remembers for ever which keys are done. The contract of the service has no delivery id and no timestamp, so a replay and a
 * retry look the same, and a memory that ends is a hole.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a scope that holds nothing
export interface IdempotencyStore<Scope extends object = {}> {
  /** Whether `key` is done: read before `confirm`, so that replays stay cheap. */
  isDone(key: string): Promise<boolean>;
  /**
   * Runs `work` unless `key` is done; `scope` reaches the handler's context. Only work that succeeds leaves a mark. What
   * `work` throws is thrown on as the same object. On abort the store stops the work for good.
   */
  run(key: string, work: (scope: Scope) => Promise<void>, options: { readonly signal: AbortSignal }): Promise<RunResult>;
}

/** A store, or a store with an identity of the merchant's own in place of `kind:reference`. */
export type IdempotencyOption<Scope extends object> =
  IdempotencyStore<Scope> | { readonly store: IdempotencyStore<Scope>; readonly key: (event: WebhookEvent) => string };

/** The option as the receiver uses it. */
export interface Idempotency<Scope extends object> {
  readonly store: IdempotencyStore<Scope>;
  keyOf(event: WebhookEvent): string | Promise<string>;
}

export function readIdempotency<Scope extends object>(option: IdempotencyOption<Scope>): Idempotency<Scope> {
  const { store, key }: Partial<Exclude<typeof option, IdempotencyStore<Scope>>> = isStore(option)
    ? { store: option, key: identityOf }
    : (option ?? {});
  check(
    isStore<Scope>(store) && typeof key === 'function',
    'idempotency',
    'must be a store, or { store, key } with a function `key`',
  );
  return {
    store,
    keyOf(event) {
      const identity: unknown = key(event);
      if (typeof identity !== 'string' || identity === '') throw new TypeError('idempotency.key must give a text for every event');
      // A digest, since a reference of 10 kB is over an index's limit and queues refuse some characters.
      return sha256(identity);
    },
  };
}

function isStore<Scope extends object>(value: unknown): value is IdempotencyStore<Scope> {
  const store = value as Partial<IdempotencyStore<Scope>> | null | undefined;
  return typeof store?.run === 'function' && typeof store.isDone === 'function';
}

/** Never the signature, a header or a hash of the body: one payment can be told in other bytes. */
function identityOf(event: WebhookEvent): string {
  return `${event.type === 'unrecognized' ? event.kind : event.type}:${event.reference}`;
}

/**
 * Runs `work` under the key, and lets nothing pass for done that is not.
 *
 * @throws what `work` threw, as the same object; WebhookError `in_progress`, or `store_unavailable` for whatever else fails.
 */
export async function runOnce<Scope extends object>(
  store: IdempotencyStore<Scope>,
  key: string,
  work: (scope: Scope) => Promise<void>,
  signal: AbortSignal,
): Promise<'done' | 'duplicate'> {
  // Of the last run: a store may run the work again, after a serialisation failure for one.
  let succeeded = false;
  let thrown: { readonly error: unknown } | undefined;
  const watched = async (scope: Scope): Promise<void> => {
    succeeded = false;
    thrown = undefined;
    try {
      await work(scope);
      succeeded = true;
    } catch (error) {
      thrown = { error };
      throw error;
    }
  };

  let result: RunResult;
  try {
    result = await store.run(key, watched, { signal });
  } catch (error) {
    if (wasThrown(thrown, error)) throw error;
    throw unavailable(error);
  }
  if (result === 'in_progress') throw fault(result, 'another delivery of the same event is being handled');
  // A store that says done for work that failed, or never ran, would have us acknowledge what did not happen.
  if (result === 'duplicate' || (result === 'done' && succeeded)) return result;
  throw unavailable(new Error('the store said done, and the work was not'));
}

function wasThrown(thrown: { readonly error: unknown } | undefined, error: unknown): boolean {
  return thrown !== undefined && thrown.error === error;
}

/** Whether the key is done. @throws WebhookError `store_unavailable`. */
export async function isDone(store: Pick<IdempotencyStore, 'isDone'>, key: string): Promise<boolean> {
  try {
    const done: unknown = await store.isDone(key);
    if (typeof done === 'boolean') return done;
  } catch (error) {
    throw unavailable(error);
  }
  throw unavailable(new TypeError('isDone gave no boolean'));
}

function unavailable(cause: unknown): WebhookError {
  return fault('store_unavailable', 'the idempotency store failed', cause);
}
