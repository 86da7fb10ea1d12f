/** The histories of one process. Its parent sends a share and receives the sums. */
import type { Violation } from './invariants.js';
import type { CrashPoint } from './shop.js';
import { World } from './world.js';

/** Every `step`th seed from `first` up to `end`. */
export interface Share {
  readonly first: number;
  readonly end: number;
  readonly step: number;
}

export interface Sums {
  histories: number;
  happenings: number;
  credits: number;
  /** Milliseconds of virtual time. */
  duration: number;
  /** Milliseconds of CPU. */
  cpu: number;
  /** The crashes by the point at which they struck. */
  crashes: Partial<Record<CrashPoint, number>>;
  violated?: {
    readonly seed: number;
    readonly violations: readonly Violation[];
    readonly timeline: readonly string[];
  };
}

export const noSums = (): Sums => ({
  histories: 0,
  happenings: 0,
  credits: 0,
  duration: 0,
  cpu: 0,
  crashes: {},
});

const REPORT_EVERY = 200;

process.on('message', (share: Share) => void simulate(share));

async function simulate({ first, end, step }: Share): Promise<void> {
  // Outside production, a refused signature starts the diagnosis in real time.
  Object.assign(process.env, { NODE_ENV: 'production' });
  let sums = noSums();
  let counted = 0;
  for (let seed = first; seed < end; seed += step) {
    const { violations, timeline, happenings, credits, duration, crashes } = await new World(
      seed,
    ).run();
    sums.histories += 1;
    sums.happenings += happenings;
    sums.credits += credits;
    sums.duration += duration;
    for (const [point, count] of crashes) sums.crashes[point] = (sums.crashes[point] ?? 0) + count;
    if (violations.length > 0) sums.violated = { seed, violations, timeline };
    if (sums.violated || sums.histories === REPORT_EVERY || seed + step >= end) {
      const { user, system } = process.cpuUsage();
      sums.cpu = (user + system) / 1_000 - counted;
      counted += sums.cpu;
      const isLast = sums.violated !== undefined || seed + step >= end;
      // Exits although a timer of the code under test may still wait for minutes.
      await new Promise((resolve) => process.send!(sums, resolve));
      if (isLast) process.exit();
      sums = noSums();
    }
  }
}
