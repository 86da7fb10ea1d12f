/**
 * Settles as `work` does, or rejects with `late()` once `milliseconds` have passed or `cancel` is aborted. Work that gives no
 * promise needs no timer. What comes of work that was given up is ignored, a rejection too.
 */
export function settle<T>(
  work: () => T | Promise<T>,
  milliseconds: number,
  late: () => unknown,
  cancel?: AbortSignal,
): T | Promise<T> {
  const running = work();
  if (!isPromise(running)) return running;
  return new Promise<T>((resolve, reject) => {
    const giveUp = (): void => {
      end();
      reject(late());
    };
    const timer = setTimeout(giveUp, milliseconds);
    cancel?.addEventListener('abort', giveUp);
    const end = (): void => {
      clearTimeout(timer);
      cancel?.removeEventListener('abort', giveUp);
    };
    // Already, when the work itself has brought it about.
    if (cancel?.aborted) giveUp();
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
  });
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === 'function';
}
