/**
 * Settles as `running` does, or rejects after `milliseconds` or when the signal is aborted: BullMQ's connection keeps commands
 * for a Redis that is down until it is back.
 */
export async function withinBounds<T>(running: Promise<T>, milliseconds: number, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Redis gave no answer in ${milliseconds} ms`));
    }, milliseconds);
    giveUp = () => {
      reject(signal.reason);
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp!);
  }
}
