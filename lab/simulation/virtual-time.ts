/**
 * One virtual clock, and the queue of what happens on it. While a world runs, the timers, the
 * clocks and `Math.random` of the process are the world's, so that the code under test waits in
 * virtual time and a seed repeats every choice.
 */
import { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from '../durability/random.js';

/** Whatever can crash: what it scheduled does not happen once it has. */
export interface Owner {
  readonly alive: boolean;
  /** Nothing of it happens before this time: a long garbage collection, a suspended machine. */
  readonly pausedUntil: number;
}

interface Happening {
  at: number;
  readonly order: number;
  readonly owner: Owner | null;
  readonly run: () => void;
  cancelled: boolean;
}

/** What a timer function gives back. Code under test calls `unref`. */
class Timer {
  constructor(readonly happening: Happening) {}
  unref(): this {
    return this;
  }
  ref(): this {
    return this;
  }
}

const realImmediate = setImmediate;

export class VirtualTime {
  now = 0;
  /** Who acts: everything up to the next happening is a consequence of this one. */
  acting: Owner | null = null;
  readonly #heap: Happening[] = [];
  #order = 0;

  constructor(readonly random: Random) {}

  /** Schedules on behalf of `owner`; default: the one that acts now. */
  after(milliseconds: number, run: () => void, owner: Owner | null = this.acting): Happening {
    const happening = {
      at: this.now + Math.max(0, milliseconds),
      order: this.#order++,
      owner,
      run,
      cancelled: false,
    };
    this.#push(happening);
    return happening;
  }

  /** Runs until nothing is left, or `until` is reached. Gives the number of happenings. */
  async run(until: number): Promise<number> {
    takeOver(this);
    let count = 0;
    try {
      for (let next = this.#pop(); next !== undefined; next = this.#pop()) {
        if (next.cancelled || next.owner?.alive === false) continue;
        if (next.owner !== null && next.owner.pausedUntil > Math.max(next.at, this.now)) {
          next.at = next.owner.pausedUntil;
          this.#push(next);
          continue;
        }
        if (next.at > until) {
          this.#push(next);
          break;
        }
        this.now = Math.max(this.now, next.at);
        this.acting = next.owner;
        next.run();
        count += 1;
        // Every promise that this settled is followed to its end before the clock goes on.
        await new Promise((resolve) => realImmediate(resolve));
      }
    } finally {
      running = undefined;
    }
    return count;
  }

  // A binary heap, by time and then by the order in which it was scheduled.
  #push(happening: Happening): void {
    const heap = this.#heap;
    let index = heap.push(happening) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(happening, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = happening;
  }

  #pop(): Happening | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

/** Whose time it is; outside of a run, everybody's own. */
let running: VirtualTime | undefined;
let isTaken = false;

/**
 * Puts the world's timers, clocks and chance in the place of the process's, once: to tell ES
 * modules costs more than a history.
 */
function takeOver(time: VirtualTime): void {
  running = time;
  if (isTaken) return;
  isTaken = true;
  const { setTimeout, clearTimeout, clearImmediate } = globalThis;
  const { random } = Math;
  const ofPromises = timersPromises.setTimeout;
  const now = performance.now.bind(performance);
  const dateNow = Date.now.bind(Date);

  const start = (
    run: (...values: unknown[]) => void,
    milliseconds = 0,
    ...values: unknown[]
  ): unknown =>
    running === undefined
      ? setTimeout(run, milliseconds, ...values)
      : new Timer(running.after(milliseconds, () => run(...values)));
  const stop = (timer: unknown): void => {
    if (timer instanceof Timer) timer.happening.cancelled = true;
    else clearTimeout(timer as NodeJS.Timeout);
  };
  const pause = <T>(
    milliseconds = 0,
    value?: T,
    options: { signal?: AbortSignal } = {},
  ): Promise<T> => {
    const { signal } = options;
    if (running === undefined) return ofPromises<T>(milliseconds, value, options);
    const time = running;
    return new Promise((resolve, reject) => {
      const happening = time.after(milliseconds, () => resolve(value as T));
      signal?.addEventListener('abort', () => {
        happening.cancelled = true;
        reject(signal.reason);
      });
    });
  };

  const startNext = (run: (...values: unknown[]) => void, ...values: unknown[]): unknown =>
    running === undefined
      ? realImmediate(run, ...values)
      : new Timer(running.after(0, () => run(...values)));
  const stopNext = (timer: unknown): void => {
    if (timer instanceof Timer) timer.happening.cancelled = true;
    else clearImmediate(timer as NodeJS.Immediate);
  };
  // The real one answers from another thread, so at a time that no seed repeats.
  const digest = async (_algorithm: 'SHA-256', bytes: Uint8Array): Promise<ArrayBuffer> =>
    new Uint8Array(createHash('sha256').update(bytes).digest()).buffer;

  Object.assign(globalThis, {
    setTimeout: start,
    clearTimeout: stop,
    setImmediate: startNext,
    clearImmediate: stopNext,
  });
  Object.defineProperty(crypto.subtle, 'digest', { value: digest });
  Object.assign(timersPromises, { setTimeout: pause });
  syncBuiltinESMExports();
  Math.random = () => (running === undefined ? random() : running.random.next());
  Object.defineProperty(performance, 'now', {
    value: () => running?.now ?? now(),
    configurable: true,
    writable: true,
  });
  // From a fixed day on, so that dates are the same on every run.
  Date.now = () => (running === undefined ? dateNow() : Date.UTC(2026, 0, 1) + running.now);
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
