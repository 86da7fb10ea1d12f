import { sha256 } from '#hmac';
import { ConfigurationError, WebhookError } from './errors.js';
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
  const { store, key } = isStore(option) ? { store: option, key: identityOf } : option;
  if (!isStore(store)) throw new ConfigurationError('idempotency', 'must be a store, or { store, key }');
  if (typeof key !== 'function') throw new ConfigurationError('idempotency.key', 'must be a function of the event');
  return {
    store,
    keyOf(event) {
      const identity: unknown = key(event);
      if (typeof identity !== 'string' || identity === '') {
        throw new TypeError('idempotency.key gave no string: every event needs an identity of its own');
      }
      // A digest, since a reference of 10 kB is over an index's limit and queues refuse some characters.
      return sha256(identity);
    },
  };
}

function isStore<Scope extends object>(value: unknown): value is IdempotencyStore<Scope> {
  const store = value as Partial<IdempotencyStore<Scope>> | undefined;
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
  let last: { succeeded: boolean; error?: unknown } | undefined;
  let result: RunResult;
  try {
    result = await store.run(
      key,
      async (scope) => {
        // A store may run the work again, after a serialisation failure for one; the last run counts.
        const attempt: typeof last = { succeeded: false };
        last = attempt;
        try {
          await work(scope);
          attempt.succeeded = true;
        } catch (error) {
          attempt.error = error;
          throw error;
        }
      },
      { signal },
    );
  } catch (error) {
    if (last !== undefined && !last.succeeded && error === last.error) throw error;
    throw unavailable(error);
  }
  if (result === 'in_progress') {
    throw new WebhookError('in_progress', { message: 'another delivery of the same event is being handled' });
  }
  if (result === 'duplicate') return result;
  // A store that says done for work that failed, or never ran, would have us acknowledge what did not happen.
  if (result !== 'done' || last?.succeeded !== true) throw unavailable(last?.error);
  return result;
}

/** Whether the key is done. @throws WebhookError `store_unavailable`. */
export async function isDone(store: Pick<IdempotencyStore, 'isDone'>, key: string): Promise<boolean> {
  let done: unknown;
  try {
    done = await store.isDone(key);
  } catch (error) {
    throw unavailable(error);
  }
  if (typeof done !== 'boolean') throw unavailable(new TypeError('isDone gave no boolean'));
  return done;
}

function unavailable(cause: unknown): WebhookError {
  return new WebhookError('store_unavailable', { message: 'the idempotency store failed', cause });
}
