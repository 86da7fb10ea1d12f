/** Tries one order of the rounds, or one cut. Its number names it. */
import { Attempt } from './attempt.js';
import { faultOf } from './fault.js';
import type { Party, Recovery, Subject } from './subject.js';
import { writeStory, type Line } from './story.js';

export interface Finding {
  /** Replays the try. Even numbers are orders, odd ones are cuts. */
  readonly number: number;
  readonly kind: 'order' | 'cut';
  /** The fault in one sentence. Empty if the try was right. */
  readonly fault: string;
  readonly change: string;
  /** A line for each round. */
  readonly story: readonly string[];
}

/** A moment at which several deliveries had a round to send. */
interface Branch {
  readonly prefix: readonly number[];
  readonly state: string;
  readonly others: readonly number[];
}

export interface Tried {
  /** Describes the try, also without a fault. */
  readonly finding: Finding;
  readonly branches: readonly Branch[];
  /** False if the delivery ended before its cut. */
  readonly isReached: boolean;
}

/** In each pair the round is lost, or its answer: the server has done it, and nobody knows. */
const CUTS = [
  { isKill: false, isAfter: false, text: 'the connection is cut before' },
  { isKill: false, isAfter: true, text: 'the connection is cut, and the answer is lost' },
  { isKill: true, isAfter: false, text: 'the process is killed before' },
  { isKill: true, isAfter: true, text: 'the process is killed, and the answer is lost' },
];

export const isKill = (cut: number): boolean => CUTS[cut % CUTS.length]!.isKill;

/** Writes the choices as the digits of a number, after a 1. */
export const numberOfOrder = (choices: readonly number[], callers: number): number =>
  2 * choices.reduce((number, choice) => number * callers + choice, 1);

export const numberOfCut = (cut: number): number => 2 * cut + 1;

export async function tryOne(subject: Subject, number: number, callers: number): Promise<Tried> {
  const isOrder = number % 2 === 0;
  const parties = await subject.parties(isOrder ? callers : 1);
  const attempt = new Attempt(subject, await subject.newOrder(), parties);
  const { branches, isReached, recoveries } = isOrder
    ? await takeChoices(attempt, (number / 2).toString(callers).slice(1))
    : await cutOff(attempt, (number - 1) / 2);
  for (const { name, run } of recoveries) {
    attempt.tell(name);
    await run();
    if (faultOf(attempt, await subject.truth(attempt.order)) !== undefined) break;
  }
  const truth = await subject.truth(attempt.order);
  const { sentence: fault, change } = faultOf(attempt, truth) ?? { sentence: '', change: '' };
  const further = truth.effects === undefined ? '' : `, ${truth.effects} effects`;
  attempt.tell(`the database says: ${truth.paid ? 'paid' : 'unpaid'}${further}`);
  const story = writeStory(attempt.lines);
  const finding: Finding = { number, kind: isOrder ? 'order' : 'cut', fault, change, story };
  return { finding, branches, isReached };
}

interface Course {
  readonly branches: readonly Branch[];
  readonly isReached: boolean;
  /** What happens next, outside of the proxies. */
  readonly recoveries: readonly Recovery[];
}

/** Lets the deliveries run to their ends. Each choice is the digit of a delivery. */
async function takeChoices(attempt: Attempt, choices: string): Promise<Course> {
  const branches: Branch[] = [];
  const made: number[] = [];
  for (let ready = await attempt.ready(); ready.length > 0; ready = await attempt.ready()) {
    let choice = 0;
    if (ready.length > 1) {
      choice = Math.min(Number(choices[made.length] ?? 0), ready.length - 1);
      const others = [...ready.keys()].filter((other) => other !== choice);
      branches.push({ prefix: [...made], state: stateOf(attempt.lines), others });
      made.push(choice);
    }
    await attempt.step(ready[choice]!);
  }
  await attempt.end();
  return { branches, isReached: true, recoveries: await recoveriesIfUnpaid(attempt) };
}

async function recoveriesIfUnpaid({ subject, order }: Attempt): Promise<Recovery[]> {
  const { paid } = await subject.truth(order);
  return paid ? [] : subject.recoveries(order).slice(0, 1);
}

/** Cuts the delivery off at one of its rounds. */
async function cutOff(attempt: Attempt, number: number): Promise<Course> {
  const { isKill, isAfter, text } = CUTS[number % CUTS.length]!;
  let isReached = false;
  for (let at = Math.floor(number / CUTS.length); !isReached; at -= 1) {
    const [party] = await attempt.ready();
    if (party === undefined) break;
    isReached = at === 0;
    const [round] = party.proxy.held;
    if (isReached && !isAfter) attempt.tellRound(party);
    else await attempt.step(party, isReached);
    if (!isReached) continue;
    attempt.lines.at(-1)!.notes.push(text);
    if (isKill) await party.kill();
    else round!.connection.cut();
  }
  await attempt.end();
  if (!isReached) return { branches: [], isReached, recoveries: await recoveriesIfUnpaid(attempt) };
  const recoveries = [...attempt.subject.recoveries(attempt.order)];
  // Half of the cuts are mended by the schedule alone.
  return { branches: [], isReached, recoveries: isKill ? recoveries.toReversed() : recoveries };
}

/**
 * Describes the effects of the rounds so far, so that two orders count as one if they differ in
 * reads alone, or in the names of the deliveries, which run the same code. A read inside a
 * transaction has a place too: the transaction may then keep its view of the rows.
 */
function stateOf(lines: readonly Line[]): string {
  const effects = new Map<Party, string>();
  let placed = 0;
  for (const { party, round } of lines) {
    if (round === undefined) continue;
    const hasPlace = !round.isRead || round.isInTransaction;
    if (hasPlace) placed += 1;
    effects.set(party!, `${effects.get(party!) ?? ''} ${hasPlace ? 'at' : 'after'} ${placed}`);
  }
  return [...effects.values()].toSorted().join('|');
}
