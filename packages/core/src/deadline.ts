/** How long to wait for something that may never settle. */
export interface Bounds {
  /** The most milliseconds to wait. Default: no limit of time. */
  readonly milliseconds?: number | undefined;
  /** Each ends the wait when it is aborted, also if it is aborted already. */
  readonly signals?: readonly (AbortSignal | undefined)[] | undefined;
  /**
   * Makes the rejection, once: for the signal that was aborted, or for none when the time has passed. Default: the signal's
   * reason, or an Error that names the time.
   */
  readonly reason?: ((aborted: AbortSignal | undefined) => unknown) | undefined;
}

/**
 * Settles as `running` does, or rejects when a bound is reached. What `running` comes to after that is ignored, a rejection
 * too. It does not stop the work: the work has to listen to a signal itself.
 */
export function withinBounds<T>(running: PromiseLike<T>, { milliseconds, signals = [], reason }: Bounds): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(giveUp, milliseconds);
    for (const signal of signals) signal?.addEventListener('abort', giveUp);
    // A signal that was aborted before sends no event.
    if (signals.some((signal) => signal?.aborted)) giveUp();
    running.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );

    function end(): void {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', giveUp);
    }
    function giveUp(): void {
      end();
      const aborted = signals.find((signal) => signal?.aborted);
      if (reason !== undefined) reject(reason(aborted));
      else reject(aborted === undefined ? new Error(`no answer in ${milliseconds} ms`) : aborted.reason);
    }
  });
}

/** Runs `work`, and waits for it within the bounds. Work that gives no promise needs no timer. */
export function settle<T>(work: () => T | Promise<T>, bounds: Bounds): T | Promise<T> {
  const running = work();
  return isPromise(running) ? withinBounds(running, bounds) : running;
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === 'function';
}
