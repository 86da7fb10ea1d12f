/** The contract of a store. */
import type { Inbox } from './inbox.js';

/** `done`: the effect is durable. `duplicate`: it was before. `in_progress`: another run is at work. */
export type RunResult = 'done' | 'duplicate' | 'in_progress';

export interface RunOptions {
  /** On abort the store stops the work for good: nothing may take effect afterwards. */
  readonly signal: AbortSignal;
  /** A digest of tenant and reference. Runs of one turn go one after the other. */
  readonly turn: string;
}

/**
 * Remembers which keys are done. The service sends no delivery id and no timestamp, so a replay
 * looks like a retry however late it comes: a mark must not expire on its own.
 *
 * `key` and `turn` are SHA-256 digests in lower-case hex.
 */
export interface PaymentStore<Tx> {
  /** Whether `key` is done. */
  isDone(key: string): Promise<boolean>;
  /**
   * Runs `work` in one transaction, or under one lease, unless `key` is done. Only work that
   * resolves leaves a mark. An error of `work` rolls back and is thrown on as the same object. A
   * store may run `work` again after a serialisation failure.
   *
   * @throws WebhookError `not_credited` if the work did not hold its transaction. Any other error
   * of the store becomes 503 `store_unavailable`.
   */
  run(key: string, work: (tx: Tx) => Promise<void>, options: RunOptions): Promise<RunResult>;
  /** Keeps deliveries that failed, so that you can send them again. */
  readonly inbox?: Inbox | undefined;
}
