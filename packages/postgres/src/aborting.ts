/** Settles as `running` does, or rejects with the signal's reason once that is aborted; what comes later is ignored. */
export function untilAborted<T>(signal: AbortSignal, running: Promise<T>, onAbort?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      onAbort?.();
      reject(signal.reason);
    };
    const leave = (): void => signal.removeEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp);
    running.then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}
