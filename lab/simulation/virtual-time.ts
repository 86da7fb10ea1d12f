/**
 * A virtual clock with its event queue. While a world runs, the process's timers, clocks and
 * `Math.random` are the world's, so that the code under test waits in virtual time and a seed
 * repeats every choice. Import this file before the code under test, which keeps some of them.
 */
import type { Random } from '../random.js';

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

export class VirtualTime {
  now = 0;
  /** The owner of the running event and its consequences. */
  acting: Owner | null = null;
  /** The next event is the last. */
  readonly #queue: Happening[] = [];
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
    this.#insert(happening);
    return happening;
  }

  /** Runs until the queue is empty or `until` is reached. Returns the number of events. */
  async run(until: number): Promise<number> {
    setRunning(this);
    let count = 0;
    try {
      for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) {
        if (next.cancelled || next.owner?.alive === false) continue;
        if (next.owner !== null && next.owner.pausedUntil > Math.max(next.at, this.now)) {
          next.at = next.owner.pausedUntil;
          this.#insert(next);
          continue;
        }
        if (next.at > until) {
          this.#insert(next);
          break;
        }
        this.now = Math.max(this.now, next.at);
        this.acting = next.owner;
        next.run();
        count += 1;
        // Lets all settled promises run before the clock advances: a tick comes after them.
        await new Promise<void>((resolve) => process.nextTick(resolve));
      }
    } finally {
      running = undefined;
    }
    return count;
  }

  #insert(happening: Happening): void {
    let [from, to] = [0, this.#queue.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isBefore(happening, this.#queue[middle]!)) from = middle + 1;
      else to = middle;
    }
    this.#queue.splice(from, 0, happening);
  }
}

/** The running world. Outside a run, the process's own time applies. */
let running: VirtualTime | undefined;
const setRunning = (world: VirtualTime): void => void (running = world);

const real = { setTimeout, clearTimeout, setImmediate, clearImmediate };
const realNow = performance.now.bind(performance);
const realDate = Date.now.bind(Date);
const realRandom = Math.random.bind(Math);

type Run = (...values: unknown[]) => void;

function stop(timer: unknown, stopReal: (timer: never) => void): void {
  if (timer instanceof Timer) timer.happening.cancelled = true;
  else stopReal(timer as never);
}

Object.assign(globalThis, {
  setTimeout: (run: Run, milliseconds = 0, ...values: unknown[]) =>
    running === undefined
      ? real.setTimeout(run, milliseconds, ...values)
      : new Timer(running.after(milliseconds, () => run(...values))),
  clearTimeout: (timer: unknown) => stop(timer, real.clearTimeout),
  setImmediate: (run: Run, ...values: unknown[]) =>
    running === undefined
      ? real.setImmediate(run, ...values)
      : new Timer(running.after(0, () => run(...values))),
  clearImmediate: (timer: unknown) => stop(timer, real.clearImmediate),
});
AbortSignal.timeout = (milliseconds) => {
  const controller = new AbortController();
  setTimeout(
    () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')),
    milliseconds,
  );
  return controller.signal;
};
Object.defineProperty(performance, 'now', {
  value: () => running?.now ?? realNow(),
  configurable: true,
  writable: true,
});
// Starts on a fixed day, so that dates repeat.
Date.now = () => (running === undefined ? realDate() : Date.UTC(2026, 0, 1) + running.now);
Math.random = () => (running === undefined ? realRandom() : running.random.next());

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
