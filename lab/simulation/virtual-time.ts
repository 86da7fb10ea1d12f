/**
 * A virtual clock with its event queue. While a world runs, the process's timers, clocks and
 * `Math.random` are the world's, so that the code under test waits in virtual time and a seed
 * repeats every choice.
 */
import { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from '../durability/random.js';

/** A thing that can crash, which cancels its scheduled events. */
export interface Owner {
  readonly alive: boolean;
  /** Its events wait until this time, as in a long garbage collection or on a suspended machine. */
  readonly pausedUntil: number;
}

interface Happening {
  at: number;
  readonly order: number;
  readonly owner: Owner | null;
  readonly run: () => void;
  cancelled: boolean;
}

/** The return value of a timer function. Code under test calls `unref`. */
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
  /** The owner of the running event and its consequences. */
  acting: Owner | null = null;
  readonly #heap: Happening[] = [];
  #order = 0;

  constructor(readonly random: Random) {}

  /** Schedules for `owner`, by default the owner of the running event. */
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

  /** Runs until the queue is empty or `until` is reached. Returns the number of events. */
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
        // Lets all settled promises run before the clock advances.
        await new Promise((resolve) => realImmediate(resolve));
      }
    } finally {
      running = undefined;
    }
    return count;
  }

  // A binary heap, ordered by time, then by scheduling.
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

/** The running world. Outside a run, the process's own time applies. */
let running: VirtualTime | undefined;
let isTaken = false;

/**
 * Replaces the process's timers, clocks and randomness once: updating ES module exports costs more
 * than a history.
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
  // The real digest answers from another thread, so at a time that no seed repeats.
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
  // Starts on a fixed day, so that dates repeat.
  Date.now = () => (running === undefined ? dateNow() : Date.UTC(2026, 0, 1) + running.now);
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
