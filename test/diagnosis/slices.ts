/**
 * Prints each forged body's cost for a receiver's diagnosis. Runs in its own process with
 * single-threaded V8 without its compiler, so that processor time is the worst blocking time,
 * however busy the machine is.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { diagnoseMismatch } from '../../packages/core/src/diagnosis/automatic.js';
import { forgedBodies } from './forged-bodies.js';

export interface Cost {
  readonly body: string;
  /** The processor time of the longest slice, in milliseconds. */
  readonly longest: number;
  /** The processor time of all slices, in milliseconds. */
  readonly used: number;
  /** The time between the slices, in milliseconds. */
  readonly rested: number;
}

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
  return { body, longest, used, rested };
}

for (const [name, body] of forgedBodies) {
  const costs: Cost[] = [];
  // Each run of a body costs the same.
  for (let run = 0; run < 3; run++) costs.push(await costOf(name, body));
  const [least] = costs.sort((a, b) => a.longest - b.longest);
  console.log(JSON.stringify(least));
}
