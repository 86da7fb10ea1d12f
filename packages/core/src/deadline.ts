/**
 * Settles as `work` does, or rejects with `late()` once `milliseconds` have passed. Work that gives no promise needs no
 * timer. What comes of work that was given up is ignored, a rejection too.
 */
export function settle<T>(work: () => T | Promise<T>, milliseconds: number, late: () => unknown): T | Promise<T> {
  const running = work();
  if (!isPromise(running)) return running;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(late());
    }, milliseconds);
    running.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === 'function';
}
