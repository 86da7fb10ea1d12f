/** Renews a lease for as long as the work runs, and reports its loss. Time is counted by Redis and by a monotonic clock. */

export interface KeptLease {
  /** Aborted when another process may have the lease. */
  readonly lost: AbortSignal;
  /** Ends the renewal; the lease itself stays until it is released or runs out. */
  stop(): void;
}

/**
 * @param leaseMs how long the lease holds from each renewal on
 * @param heldSince of `performance.now()`, from before the lease was asked for
 * @param renew resolves with whether the lease is still held; rejects where Redis gives no answer
 */
export function keepLease(leaseMs: number, heldSince: number, renew: () => Promise<boolean>): KeptLease {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let end: NodeJS.Timeout | undefined;
  let stopped = false;
  let failure: unknown;

  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
    clearTimeout(end);
  };
  const lose = (message: string, cause?: unknown): void => {
    stop();
    controller.abort(new Error(message, cause === undefined ? undefined : { cause }));
  };
  /** By a timer of its own, since an answer can stay away for longer than the lease holds. */
  const holdFrom = (since: number): void => {
    clearTimeout(end);
    const left = Math.max(1, since + leaseMs - performance.now());
    const lost = (): void => {
      if (!stopped && timerOfEnd === end) lose('the lease could not be renewed before its end', failure);
    };
    // After a pause of the whole process timers come first, and an answer that is there already counts.
    const timerOfEnd = setTimeout(() => setImmediate(lost), left).unref();
    end = timerOfEnd;
  };
  const next = (milliseconds: number): void => {
    // Unreferenced: the work keeps the process alive, not the renewal.
    timer = setTimeout(() => void beat(), milliseconds).unref();
  };
  const beat = async (): Promise<void> => {
    const asked = performance.now();
    try {
      const held = await renew();
      if (stopped) return;
      if (!held) {
        lose('the lease ran out while the handler worked and another process took it, or Redis forgot it');
        return;
      }
      holdFrom(asked);
      next(leaseMs / 3);
    } catch (error) {
      if (stopped) return;
      failure = error;
      // No other process can take it before its end, so there is time to ask again.
      next(leaseMs / 10);
    }
  };
  holdFrom(heldSince);
  next(leaseMs / 3);

  return { lost: controller.signal, stop };
}
