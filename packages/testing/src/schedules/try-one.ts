/** Tries one order of the rounds, or one cut. Its number names it. */
import { Attempt } from './attempt.js';
import { UsageError } from './database.js';
import { faultOf, faultOfTotal } from './fault.js';
import type { NewOrder, Party, Recovery, Subject, Truth } from './subject.js';
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
  readonly isAcknowledged: boolean;
}

/** In each pair the round is lost, or its answer: the server has done it, and nobody knows. */
const CUTS = [
  { isKill: false, isAfter: false, text: 'the connection is cut before' },
  { isKill: false, isAfter: true, text: 'the connection is cut, and the answer is lost' },
  { isKill: true, isAfter: false, text: 'the process is killed before' },
  { isKill: true, isAfter: true, text: 'the process is killed, and the answer is lost' },
];

export const isKill = (cut: number): boolean => CUTS[cut % CUTS.length]!.isKill;

/** Writes the choices as the digits of a number, after a 1 and a digit for one order or several. */
export const numberOfOrder = (
  choices: readonly number[],
  callers: number,
  isShared: boolean,
): number =>
  2 * choices.reduce((number, choice) => number * callers + choice, callers + Number(isShared));

export const numberOfCut = (cut: number): number => 2 * cut + 1;

export async function tryOne(subject: Subject, number: number, callers: number): Promise<Tried> {
  const isOrder = number % 2 === 0;
  const digits = (number / 2).toString(callers);
  const isShared = isOrder && digits[1] === '1';
  const parties = await subject.parties(isOrder ? callers : 1);
  const orders: NewOrder[] = [];
  do orders.push(await subject.newOrder());
  while (isShared && orders.length < parties.length);
  const creditsSince = isShared ? await watchTotal(subject) : undefined;
  const attempt = new Attempt(subject, orders, parties);
  const cut = (number - 1) / 2;
  const isReached = isOrder || (await cutOff(attempt, cut));
  // After a cut connection, the story shows what the process still does.
  const branches = await takeChoices(attempt, isOrder ? digits.slice(2) : '');
  await attempt.end();
  const isCut = !isOrder && isReached;
  for (const { name, run } of await recoveriesOf(attempt, isCut ? cut : undefined)) {
    attempt.tell(name);
    await run();
    if (isShared) continue;
    if (faultOf(attempt, await subject.truth(orders[0]!)) !== undefined) break;
  }
  const truths = await Promise.all(orders.map(async (order) => subject.truth(order)));
  const [{ paid, effects }] = truths as [Truth];
  const credits = await creditsSince?.();
  const found =
    credits === undefined ? faultOf(attempt, truths[0]!) : faultOfTotal(attempt, truths, credits);
  const { sentence: fault, change } = found ?? { sentence: '', change: '' };
  const further = effects === undefined ? '' : `, ${effects} effects`;
  const moved = `the total moved by ${Number(credits?.toFixed(2))} of ${orders.length} credits`;
  attempt.tell(isShared ? moved : `the database says: ${paid ? 'paid' : 'unpaid'}${further}`);
  const story = writeStory(attempt.lines);
  const finding: Finding = { number, kind: isOrder ? 'order' : 'cut', fault, change, story };
  const isAcknowledged = parties.some(({ replies }) => replies.some((each) => each.isAcknowledged));
  return { finding, branches, isReached, isAcknowledged };
}

/** Returns a function that tells by how many credits the total has moved since. */
async function watchTotal(subject: Subject): Promise<() => Promise<number>> {
  const { total = () => Promise.resolve(0) } = subject;
  const order = await subject.newOrder();
  const before = await total(order);
  await subject.recoveries(order)[0]!.run();
  const start = await total(order);
  if (!(Math.abs(start - before) > 0))
    throw new UsageError('total', 'A credit does not move the total: run testOrders first');
  return async () => ((await total(order)) - start) / (start - before);
}

/**
 * Lets the deliveries run to their ends. Each choice is the digit of a delivery. After the choices,
 * a delivery goes on until it waits or ends.
 */
async function takeChoices(attempt: Attempt, choices: string): Promise<Branch[]> {
  const branches: Branch[] = [];
  const made: number[] = [];
  let last: Party | undefined;
  for (let ready = await attempt.ready(); ready.length > 0; ready = await attempt.ready()) {
    let choice = 0;
    if (ready.length > 1) {
      const usual = Math.max(0, ready.indexOf(last!));
      choice = Math.min(Number(choices[made.length] ?? usual), ready.length - 1);
      const others = [...ready.keys()].filter((other) => other !== choice);
      branches.push({ prefix: [...made], state: stateOf(attempt.lines), others });
      made.push(choice);
    }
    last = ready[choice]!;
    await attempt.step(last);
  }
  return branches;
}

/** Cuts the delivery off at one of its rounds. False if it ended before. */
async function cutOff(attempt: Attempt, cut: number): Promise<boolean> {
  const { isAfter, text } = CUTS[cut % CUTS.length]!;
  for (let left = Math.floor(cut / CUTS.length); ; left -= 1) {
    const [party] = await attempt.ready();
    if (party === undefined) return false;
    const [round] = party.proxy.held;
    if (left === 0 && !isAfter) attempt.tellRound(party);
    else await attempt.step(party, left === 0);
    if (left > 0) continue;
    attempt.lines.at(-1)!.notes.push(text);
    if (isKill(cut)) await party.kill();
    else round!.connection.cut();
    return true;
  }
}

/** Returns both recoveries after a cut, and otherwise one for each unpaid order. */
async function recoveriesOf(
  { subject, orders, parties }: Attempt,
  cut?: number,
): Promise<Recovery[]> {
  if (cut !== undefined) {
    const recoveries = [...subject.recoveries(orders[0]!, parties[0])];
    // Half of the cuts are mended by the schedule alone.
    return isKill(cut) ? recoveries.toReversed() : recoveries;
  }
  const recoveries: Recovery[] = [];
  for (const order of orders)
    if (!(await subject.truth(order)).paid) recoveries.push(subject.recoveries(order)[0]!);
  return recoveries;
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
