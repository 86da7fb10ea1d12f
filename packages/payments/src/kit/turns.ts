import type { RunResult } from '../payment-store.js';

interface Waiter {
  readonly key: string;
  /** Ends the wait with a result, or lets the waiter run if called without a result. */
  readonly proceed: (result: RunResult | undefined) => void;
}

/**
 * Runs one attempt per turn at a time within this process. The others wait without a connection.
 */
export class Turns {
  readonly #lines = new Map<string, Waiter[]>();

  /**
   * Runs `attempt` in its turn. If a run of the same key ends with a result first, resolves with
   * `duplicate` or `in_progress` and never starts `attempt`. Stops waiting on abort.
   *
   * @throws the reason of `signal`, or the error of `attempt`
   */
  async run(
    turn: string,
    key: string,
    signal: AbortSignal,
    attempt: () => Promise<RunResult>,
  ): Promise<RunResult> {
    signal.throwIfAborted();
    const line = this.#lines.get(turn);
    if (line === undefined) this.#lines.set(turn, []);
    else {
      const result = await waitIn(line, key, signal);
      if (result !== undefined) return result;
    }
    let result: RunResult | undefined;
    try {
      return (result = await attempt());
    } finally {
      this.#endTurn(turn, key, result);
    }
  }

  #endTurn(turn: string, key: string, result: RunResult | undefined): void {
    const line = this.#lines.get(turn)!;
    const isAnswered = (waiter: Waiter): boolean => result !== undefined && waiter.key === key;
    const answered = line.filter(isAnswered);
    const [next, ...others] = line.filter((waiter) => !isAnswered(waiter));
    if (next === undefined) this.#lines.delete(turn);
    else line.splice(0, line.length, ...others);
    for (const waiter of answered) waiter.proceed(result === 'done' ? 'duplicate' : result);
    next?.proceed(undefined);
  }
}

function waitIn(line: Waiter[], key: string, signal: AbortSignal): Promise<RunResult | undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      line.splice(line.indexOf(waiter), 1);
      reject(signal.reason);
    };
    const waiter: Waiter = {
      key,
      proceed(result) {
        signal.removeEventListener('abort', leave);
        resolve(result);
      },
    };
    signal.addEventListener('abort', leave, { once: true });
    line.push(waiter);
  });
}
