import { vi } from 'vitest';

/** Work that never ends, and a promise of the moment when it has begun. */
export function hanging() {
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const hang = (): Promise<never> => {
    begin();
    return new Promise(() => undefined);
  };
  return { hang, begun };
}

/** On a clock that stands until `begun`, so that a time limit strikes there, however slow the machine was before. */
export async function expire<T>(begun: Promise<unknown>, milliseconds: number, run: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const running = run();
    await Promise.race([begun, running]);
    vi.advanceTimersByTime(milliseconds);
    return await running;
  } finally {
    vi.useRealTimers();
  }
}
