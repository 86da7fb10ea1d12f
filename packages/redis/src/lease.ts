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
  let stopped = false;

  const lose = (message: string, cause?: unknown): void => {
    controller.abort(new Error(message, cause === undefined ? undefined : { cause }));
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
      heldSince = asked;
      next(leaseMs / 3);
    } catch (error) {
      if (stopped) return;
      // No other process can take it before its end, so there is time to ask again.
      if (performance.now() - heldSince < leaseMs) next(leaseMs / 10);
      else lose('the lease could not be renewed before its end', error);
    }
  };
  next(leaseMs / 3);

  return {
    lost: controller.signal,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
