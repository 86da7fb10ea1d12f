/**
 * Prints each forged body's cost for a receiver's diagnosis. Runs in its own process with
 * single-threaded V8 without its compiler, so that processor time is the worst blocking time,
 * however busy the machine is.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { diagnoseMismatch } from '../../packages/core/src/diagnosis/automatic.js';
import { forgedBodies } from './forged-bodies.js';

/** What a body costs at least, because others only add to it. */
export interface Cost {
  readonly body: string;
  /** The processor time of the longest slice, in milliseconds. */
  readonly longest: number;
  /** The processor time of all slices, as a share of the time with the pauses between them. */
  readonly share: number;
}

export interface Costs {
  /** The least processor time of a fixed piece of work, in milliseconds. */
  readonly yardstick: number;
  readonly costs: readonly Cost[];
}

/** Text that takes about as long to parse as a body takes to diagnose. */
const YARDSTICK = `[${'{"a":[]},'.repeat(20_000)}0]`;

/** Diagnoses at once, without a receiver's slices. */
async function costOf(body: string, rawBody: Buffer): Promise<Cost> {
  let [longest, used, rested] = [0, 0, 0];
  let since = process.cpuUsage();
  globalThis.setTimeout = ((resume: () => void, milliseconds: number) => {
    const { user, system } = process.cpuUsage(since);
    const slice = (user + system) / 1_000;
    longest = Math.max(longest, slice);
    used += slice;
    rested += milliseconds;
    void turn().then(() => {
      since = process.cpuUsage();
      resume();
    });
    return {};
  }) as unknown as typeof setTimeout;
  const { matches } = await diagnoseMismatch({
    rawBody,
    signature: 'ab'.repeat(32),
    secret: 'a-secret-of-some-length',
  });
  if (matches) throw new Error('a forged signature matches');
  return { body, longest, share: used / (used + rested) };
}

function timeOfYardstick(): number {
  const since = process.cpuUsage();
  JSON.parse(YARDSTICK);
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

const least = new Map<string, Cost>();
let yardstick = Infinity;
// A busy moment of the machine does not last for all three.
for (let run = 0; run < 3; run++) {
  yardstick = Math.min(yardstick, timeOfYardstick());
  for (const [body, bytes] of forgedBodies) {
    // The garbage of the last body is not this one's.
    globalThis.gc!();
    const { longest, share } = await costOf(body, bytes);
    const before = least.get(body) ?? { longest, share };
    const cost = {
      body,
      longest: Math.min(longest, before.longest),
      share: Math.min(share, before.share),
    };
    least.set(body, cost);
  }
}
console.log(JSON.stringify({ yardstick, costs: [...least.values()] } satisfies Costs));
