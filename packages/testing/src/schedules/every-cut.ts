/** A delivery that is cut off before and after each of its rounds, and the next deliveries. */
import { Attempt } from './attempt.js';
import { deliverUntilDone } from './every-order.js';
import { faultOf } from './fault.js';
import { findingOf, type Explored, type Finding, type Limits } from './finding.js';
import type { Lab } from './lab.js';
import type { Caller } from './process.js';

/** In each pair the round is lost, or its answer: the server has done it, and nobody knows. */
export const CUTS = [
  { isKill: false, isAfter: false, text: 'the connection is cut before' },
  { isKill: false, isAfter: true, text: 'the connection is cut, and the answer is lost' },
  { isKill: true, isAfter: false, text: 'the process is killed before' },
  { isKill: true, isAfter: true, text: 'the process is killed, and the answer is lost' },
];
export const MOST_ROUNDS = 50;

/** Tries every cut. Gives one finding for each fault. */
export async function tryEveryCut(lab: Lab, limits: Limits): Promise<Explored> {
  const findings: Finding[] = [];
  let caller = await lab.newCaller();
  let tried = 0;
  for (let number = 0; number < MOST_ROUNDS * CUTS.length; number += 1) {
    if (limits.isOver()) return { tried, left: 1, findings };
    if (!caller.isAlive) caller = await lab.newCaller();
    const { isReached, finding, story } = await tryCut(caller, lab, number);
    if (!isReached) return { tried, left: 0, findings };
    tried += 1;
    limits.onTry(tried);
    if (finding && !findings.some(({ fault }) => fault === story.fault)) findings.push(finding);
  }
  return { tried, left: 1, findings };
}

export async function tryCut(
  caller: Caller,
  lab: Lab,
  number: number,
): Promise<{ isReached: boolean; finding: Finding | undefined; story: Finding }> {
  const { isKill, isAfter, text } = CUTS[number % CUTS.length]!;
  const attempt = new Attempt(lab, await lab.newOrder(), [caller]);
  attempt.start();
  let isReached = false;
  for (let at = 0; (await attempt.ready()).length > 0; at += 1) {
    isReached = at === Math.floor(number / CUTS.length);
    const [round] = caller.proxy!.held;
    if (!isReached || isAfter) await attempt.step(caller, isReached);
    else attempt.lines.push({ who: 'A', round: round!, notes: [] });
    if (!isReached) continue;
    attempt.lines.at(-1)!.notes.push(text);
    if (isKill) caller.kill();
    else caller.proxy!.cut(round!);
    break;
  }
  await attempt.end();
  const end = async (): Promise<Finding> =>
    findingOf('cut', 2 * number + 1, attempt, await lab.truth(attempt.order));
  if (!isReached) return { isReached, finding: undefined, story: await end() };
  const recoveries = [
    { name: 'the next delivery', run: async () => deliverUntilDone(lab, attempt) },
    {
      name: 'reconcile',
      run: async () => lab.observer.call('reconcile', attempt.order),
    },
  ];
  // Half of the cuts are mended by the schedule alone.
  for (const { name, run } of isKill ? recoveries.toReversed() : recoveries) {
    attempt.lines.push({ who: ' ', text: name, notes: [] });
    await run();
    if (faultOf(attempt, await lab.truth(attempt.order)) !== undefined) break;
  }
  const story = await end();
  return { isReached, finding: story.fault === '' ? undefined : story, story };
}
