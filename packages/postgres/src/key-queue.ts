import type { RunResult } from '@paylink/core';

interface Waiter {
  /** With a result; or without one, and then it is this one's turn. */
  readonly proceed: (result: RunResult | undefined) => void;
}

/** Lets one run of a key go at a time within this process, so that duplicates wait without a connection. */
export class KeyQueue {
  readonly #waiting = new Map<string, Waiter[]>();

  isRunning(key: string): boolean {
    return this.#waiting.has(key);
  }

  /**
   * Runs `attempt` once it is its turn. Where the run before it came to a result, that is the answer; where it failed, the next
   * in line tries. Whoever's signal is aborted leaves the line.
   */
  async run(key: string, signal: AbortSignal, attempt: () => Promise<RunResult>): Promise<RunResult> {
    signal.throwIfAborted();
    const line = this.#waiting.get(key);
    if (line === undefined) {
      this.#waiting.set(key, []);
    } else {
      const result = await waitIn(line, signal);
      if (result !== undefined) return result;
    }
    let result: RunResult | undefined;
    try {
      result = await attempt();
      return result;
    } finally {
      this.#end(key, result);
    }
  }

  #end(key: string, result: RunResult | undefined): void {
    const line = this.#waiting.get(key)!;
    const next = result === undefined ? line.shift() : undefined;
    if (next !== undefined) {
      next.proceed(undefined);
      return;
    }
    this.#waiting.delete(key);
    for (const waiter of line) waiter.proceed(result === 'done' ? 'duplicate' : result);
  }
}

function waitIn(line: Waiter[], signal: AbortSignal): Promise<RunResult | undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      line.splice(line.indexOf(waiter), 1);
      reject(signal.reason);
    };
    const waiter: Waiter = {
      proceed(result) {
        signal.removeEventListener('abort', leave);
        resolve(result);
      },
    };
    line.push(waiter);
    signal.addEventListener('abort', leave, { once: true });
  });
}
