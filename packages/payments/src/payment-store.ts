/** The contract of a store. */
import type { Inbox } from './inbox.js';

/**
 * `done`: the effect is durable. `duplicate`: an earlier run was done. `in_progress`: another run
 * is running.
 */
export type RunResult = 'done' | 'duplicate' | 'in_progress';

export interface RunOptions {
  /** On abort the store stops the work for good, so that nothing takes effect later. */
  readonly signal: AbortSignal;
  /**
   * A digest of tenant and reference. Runs with the same turn never overlap: they wait, or end with
   * `in_progress`.
   */
  readonly turn: string;
}

/**
 * Remembers the keys that are done. The service sends neither delivery id nor timestamp, so a
 * replay looks like a retry, however late it comes. A mark must therefore never expire on its own.
 *
 * `key` and `turn` are SHA-256 digests in lower-case hex.
 */
export interface PaymentStore<Tx> {
  /** Resolves with true if `key` is done. */
  isDone(key: string): Promise<boolean>;
  /**
   * Runs `work` in one transaction, or under one lease, unless `key` is done. Leaves a mark only if
   * `work` resolves. Rolls back on an error of `work` and throws the same object. A store may run
   * `work` again after a serialisation failure.
   *
   * @throws WebhookError `not_credited` if the work did not hold its transaction. Any other error
   *   of the store becomes 503 `store_unavailable`.
   */
  run(key: string, work: (tx: Tx) => Promise<void>, options: RunOptions): Promise<RunResult>;
  /** Stores failed deliveries, so that you can replay them. */
  readonly inbox?: Inbox | undefined;
}
