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

/** The sums of a process so far. */
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

const REPORT_EVERY = 200;

process.on('message', (share: Share) => void simulate(share));

async function simulate({ first, end, step }: Share): Promise<void> {
  // Outside production, a refused signature starts the diagnosis in real time.
  Object.assign(process.env, { NODE_ENV: 'production' });
  const sums: Sums = { histories: 0, happenings: 0, credits: 0, duration: 0, cpu: 0, crashes: {} };
  for (let seed = first; seed < end && sums.violated === undefined; seed += step) {
    const history = await new World(seed).run();
    sums.histories += 1;
    for (const key of ['happenings', 'credits', 'duration'] as const) sums[key] += history[key];
    for (const [point, count] of history.crashes)
      sums.crashes[point] = (sums.crashes[point] ?? 0) + count;
    if (history.violations.length > 0) {
      const { violations, timeline } = history;
      sums.violated = { seed, violations, timeline };
    }
    if (sums.histories % REPORT_EVERY === 0) await report(sums);
  }
  await report(sums);
  // Although a timer of the code under test may still wait for minutes.
  process.exit();
}

async function report(sums: Sums): Promise<void> {
  const { user, system } = process.cpuUsage();
  sums.cpu = (user + system) / 1_000;
  await new Promise((resolve) => process.send!(sums, resolve));
}
