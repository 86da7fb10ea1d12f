/**
 * The idempotency store, as `@paylink/core` has it: the types are the same in structure, since this package depends on
 * nothing, and so are the key and what a store is trusted with.
 */
import { check, PaylinkError } from './errors.js';
import { sha256 } from './text.js';

export type RunResult = 'done' | 'duplicate' | 'in_progress';

// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a scope that holds nothing
export interface IdempotencyStore<Scope extends object = {}> {
  isDone(key: string): Promise<boolean>;
  run(key: string, work: (scope: Scope) => Promise<void>, options: { readonly signal: AbortSignal }): Promise<RunResult>;
}

/** What a `key` of your own is made from: what the webhook's event and a payment both have. */
export interface ReconciledEvent {
  readonly type: 'payment.succeeded';
  readonly reference: string;
}

/** The webhook's own option: a store, or a store with an identity of the merchant's own. */
export type IdempotencyOption<Scope extends object> =
  IdempotencyStore<Scope> | { readonly store: IdempotencyStore<Scope>; readonly key: (event: ReconciledEvent) => string };

export interface Idempotency<Scope extends object> {
  readonly store: IdempotencyStore<Scope>;
  /** The key that the webhook's receiver gives the store for the success of this reference. */
  keyOf(reference: string): Promise<string>;
}

/** @throws ConfigurationError */
export function readIdempotency<Scope extends object>(option: IdempotencyOption<Scope>): Idempotency<Scope> {
  const { store, key }: Partial<Exclude<typeof option, IdempotencyStore<Scope>>> = isStore(option)
    ? { store: option, key: identityOf }
    : (option ?? {});
  check(
    isStore<Scope>(store) && typeof key === 'function',
    'idempotency',
    'must be the store of your webhook, or { store, key } with a function `key`',
  );
  return {
    store,
    async keyOf(reference) {
      const identity: unknown = key({ type: 'payment.succeeded', reference });
      if (typeof identity !== 'string' || identity === '') throw new TypeError('idempotency.key must give a text for every event');
      return sha256(identity);
    },
  };
}

function isStore<Scope extends object>(value: unknown): value is IdempotencyStore<Scope> {
  const store = value as Partial<IdempotencyStore<Scope>> | null | undefined;
  return typeof store?.run === 'function' && typeof store.isDone === 'function';
}

function identityOf({ type, reference }: ReconciledEvent): string {
  return `${type}:${reference}`;
}

/** Whether the key is done. @throws PaylinkError `store_unavailable` */
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

/**
 * Runs `work` under the key, and lets nothing pass for done that is not.
 *
 * @throws what `work` threw, as the same object; PaylinkError `store_unavailable` for whatever else fails.
 */
export async function runOnce<Scope extends object>(
  store: IdempotencyStore<Scope>,
  key: string,
  work: (scope: Scope) => Promise<void>,
  signal: AbortSignal,
): Promise<RunResult> {
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

  let result: unknown;
  try {
    result = await store.run(key, watched, { signal });
  } catch (error) {
    if (wasThrown(thrown, error)) throw error;
    throw unavailable(error);
  }
  // A store that says done for work that failed, or never ran, would have an order go for credited that is not.
  if (result === 'duplicate' || result === 'in_progress' || (result === 'done' && succeeded)) return result;
  throw unavailable(new Error('the store said done, and the work was not'));
}

function wasThrown(thrown: { readonly error: unknown } | undefined, error: unknown): boolean {
  return thrown !== undefined && thrown.error === error;
}

function unavailable(cause: unknown): PaylinkError {
  return new PaylinkError('store_unavailable', 'the idempotency store failed', { cause });
}
