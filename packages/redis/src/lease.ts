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
  let timer: NodeJS.Timeout;
  const next = (milliseconds: number): void => {
    // Unreferenced, because the work keeps the process alive and not the renewal.
    timer = setTimeout(() => void beat(), milliseconds).unref();
  };
  const beat = async (): Promise<void> => {
    const asked = performance.now();
    const answer = await renew().catch((error: unknown) => ({ error }));
    if (stopped) return;
    if (answer === true) {
      heldSince = asked;
      next(leaseMs / 3);
    } else if (answer === false) {
      const problem = 'the lease expired during the work, and another process took it';
      controller.abort(new Error(`${problem}, or Redis forgot it`));
    } else if (performance.now() - heldSince < leaseMs) {
      // Other processes cannot take the lease before its end, so there is time to retry.
      next(leaseMs / 10);
    } else {
      const problem = 'the lease could not be renewed before its end';
      controller.abort(new Error(problem, { cause: answer.error }));
    }
  };
  next(leaseMs / 3);
  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
  };
  return { lost: controller.signal, stop };
}
