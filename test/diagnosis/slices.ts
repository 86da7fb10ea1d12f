/**
 * Prints what each forged body costs a receiver's diagnosis. In a process of its own, with V8 on a
 * single thread and without its compiler: processor time is then the time for which the event loop
 * stands still at worst, however busy the machine is.
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

/** Diagnoses at once what a receiver would diagnose slice by slice. */
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
  // What a body causes, it causes every time.
  for (let run = 0; run < 3; run++) costs.push(await costOf(name, body));
  const [least] = costs.sort((a, b) => a.longest - b.longest);
  console.log(JSON.stringify(least));
}
