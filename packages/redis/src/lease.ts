/** Renews a lease while the work runs. Redis and a monotonic clock measure the time. */

/**
 * Returns a signal that aborts when another process may hold the lease, and a function that ends
 * the renewal.
 *
 * @param heldSince a `performance.now()` from before the request for the lease
 * @param renew resolves with true while the lease is held, rejects if Redis does not answer
 */
export function keepLease(
  leaseMs: number,
  heldSince: number,
  renew: () => Promise<boolean>,
): { readonly lost: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  let stopped = false;
  let renewal: NodeJS.Timeout;
  let end: NodeJS.Timeout;
  let failure: unknown;
  const stop = (): void => {
    stopped = true;
    clearTimeout(renewal);
    clearTimeout(end);
  };
  const lose = (problem: string, cause?: unknown): void => {
    stop();
    controller.abort(new Error(problem, cause === undefined ? undefined : { cause }));
  };
  // Unreferenced timers, because the work keeps the process alive and not the renewal.
  const renewAfter = (milliseconds: number): void => {
    renewal = setTimeout(() => void beat(), milliseconds).unref();
  };
  const holdSince = (time: number): void => {
    clearTimeout(end);
    const expire = (): void => lose('the lease expired before Redis renewed it', failure);
    end = setTimeout(expire, time + leaseMs - performance.now()).unref();
  };
  const beat = async (): Promise<void> => {
    const asked = performance.now();
    const answer = await renew().catch((error: unknown) => ({ error }));
    if (stopped) return;
    if (answer === true) {
      holdSince(asked);
      renewAfter(leaseMs / 3);
    } else if (answer === false) {
      lose('the lease expired during the work, and another process took it, or Redis forgot it');
    } else {
      // Other processes cannot take the lease before its end, so there is time to retry.
      failure = answer.error;
      renewAfter(leaseMs / 10);
    }
  };
  holdSince(heldSince);
  renewAfter(leaseMs / 3);
  return { lost: controller.signal, stop };
}
