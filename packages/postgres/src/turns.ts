import type { RunResult } from '@paylink/core';
import type { Aborts } from './aborts.js';
import { remove } from './remove.js';

interface Waiter {
  readonly key: string;
  /** With a result; or without one, and then it is this waiter's turn. */
  readonly proceed: (result: RunResult | undefined) => void;
}

/** Lets one run of a turn go at a time within this process, so that the others wait without a connection. */
export class Turns {
  readonly #lines = new Map<string, Waiter[]>();
  readonly #running = new Map<string, number>();

  /** Whether a run of the key is at work or waits. */
  isRunning(key: string): boolean {
    return this.#running.has(key);
  }

  /**
   * Runs `attempt` once it is its turn. Where a run of the same key came to a result before that, that is the answer; the result
   * of another key never is. A waiter that is aborted leaves the line.
   */
  async run(turn: string, key: string, aborts: Aborts, attempt: () => Promise<RunResult>): Promise<RunResult> {
    aborts.throwIfAborted();
    this.#count(key, 1);
    try {
      const line = this.#lines.get(turn);
      if (line === undefined) this.#lines.set(turn, []);
      else {
        const result = await waitIn(line, key, aborts);
        if (result !== undefined) return result;
      }
      let result: RunResult | undefined;
      try {
        return (result = await attempt());
      } finally {
        this.#endTurn(turn, key, result);
      }
    } finally {
      this.#count(key, -1);
    }
  }

  #endTurn(turn: string, key: string, result: RunResult | undefined): void {
    const line = this.#lines.get(turn)!;
    const others = result === undefined ? line : line.filter((waiter) => waiter.key !== key);
    const answered = result === undefined ? [] : line.filter((waiter) => waiter.key === key);
    const [next] = others;
    if (next === undefined) this.#lines.delete(turn);
    else line.splice(0, Infinity, ...others.slice(1));
    for (const waiter of answered) waiter.proceed(result === 'done' ? 'duplicate' : result);
    next?.proceed(undefined);
  }

  #count(key: string, change: 1 | -1): void {
    const count = (this.#running.get(key) ?? 0) + change;
    if (count > 0) this.#running.set(key, count);
    else this.#running.delete(key);
  }
}

function waitIn(line: Waiter[], key: string, aborts: Aborts): Promise<RunResult | undefined> {
  return new Promise((resolve, reject) => {
    const stay = aborts.on((reason) => {
      remove(line, waiter);
      reject(reason);
    });
    const waiter: Waiter = {
      key,
      proceed(result) {
        stay();
        resolve(result);
      },
    };
    line.push(waiter);
  });
}
