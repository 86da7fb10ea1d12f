/** Waits for no longer than it may: a client in front of a Redis that is down keeps commands until it is back. */

/** Settles as `command` does, or rejects after `milliseconds`. */
export async function within<T>(milliseconds: number, command: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Redis gave no answer in ${milliseconds} ms`));
    }, milliseconds);
  });
  try {
    return await Promise.race([command, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Settles as `running` does, or rejects with the reason of the first signal that is aborted. */
export async function unlessAborted<T>(running: Promise<T>, ...signals: readonly AbortSignal[]): Promise<T> {
  const ended = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    for (const signal of signals) {
      const giveUp = (): void => {
        reject(signal.reason);
      };
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp, { signal: ended.signal });
    }
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    ended.abort();
  }
}
