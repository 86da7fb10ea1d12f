/** Runs work in a store, and checks the store's answers. */
import { isWebhookError, WebhookError } from '@paylink/core';
import type { Identity } from './identity.js';
import type { PaymentStore, RunResult } from './payment-store.js';

/** @throws WebhookError `store_unavailable` */
export async function hasMark(
  store: Pick<PaymentStore<never>, 'isDone'>,
  { key }: Identity,
): Promise<boolean> {
  let done: unknown;
  try {
    done = await store.isDone(key);
  } catch (error) {
    throw unavailable(error);
  }
  if (typeof done === 'boolean') return done;
  throw unavailable(new TypeError('isDone() must return a boolean'));
}

/**
 * Runs `work` once under the key.
 *
 * @throws the error of `work` as the same object, WebhookError `not_credited` of the store, or
 *   `store_unavailable` for any other error of the store
 */
export async function runOnce<Tx>(
  store: PaymentStore<Tx>,
  { key, turn }: Identity,
  work: (tx: Tx) => Promise<void>,
  signal: AbortSignal,
): Promise<RunResult> {
  // The result of the last run only, because a store may run the work again.
  let last: { readonly error: unknown } | 'succeeded' | undefined;
  const watched = async (tx: Tx): Promise<void> => {
    last = undefined;
    try {
      // A store that begins late must not start work that nobody waits for.
      signal.throwIfAborted();
      await work(tx);
      last = 'succeeded';
    } catch (error) {
      last = { error };
      throw error;
    }
  };
  const resultOf = (): typeof last => last;
  let result: RunResult;
  try {
    result = await store.run(key, watched, { signal, turn });
  } catch (error) {
    const ended = resultOf();
    if (typeof ended === 'object' && ended.error === error) throw error;
    if (isWebhookError(error) && error.code === 'not_credited') throw error;
    throw unavailable(error);
  }
  if (result === 'duplicate' || result === 'in_progress') return result;
  if (result === 'done' && resultOf() === 'succeeded') return result;
  throw unavailable(new Error('the store said done, but the work did not succeed'));
}

function unavailable(cause: unknown): WebhookError {
  return new WebhookError('store_unavailable', { message: 'the payment store failed', cause });
}
