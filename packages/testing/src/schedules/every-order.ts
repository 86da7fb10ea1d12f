/** Every order of the rounds of several deliveries, depth first. */
import { Attempt } from './attempt.js';
import type { Delivered } from './caller-contract.js';
import { faultOf } from './fault.js';
import { findingOf, type Explored, type Finding, type Limits } from './finding.js';
import type { Lab } from './lab.js';
import type { Caller } from './process.js';

const MOST_ORDERS = 2_000;
/** A finding's number holds the choices that lead to it. */
const MOST_CHOICES = 30;

/** Tries every order of the callers' rounds, up to the first fault. */
export async function tryEveryOrder(lab: Lab, callers: number, limits: Limits): Promise<Explored> {
  const crew = new Crew(lab, callers);
  const seen = new Set<string>();
  const pending: number[][] = [[]];
  let tried = 0;
  for (let choices = pending.pop(); choices !== undefined; choices = pending.pop()) {
    if (limits.isOver() || tried === MOST_ORDERS)
      return { tried, left: pending.length + 1, findings: [] };
    const { finding, branches } = await tryOrder(await crew.ready(), lab, choices);
    tried += 1;
    limits.onTry(tried);
    if (finding !== undefined) return { tried, left: 0, findings: [finding] };
    // An order whose rounds had the same effects so far was tried, or waits to be tried.
    for (const { prefix, state, others } of branches.slice(choices.length, MOST_CHOICES)) {
      if (seen.has(state)) break;
      seen.add(state);
      pending.push(...others.map((other) => [...prefix, other]));
    }
  }
  return { tried, left: 0, findings: [] };
}

/** A moment at which several callers had a round to send. */
interface Branch {
  readonly prefix: readonly number[];
  readonly state: string;
  readonly others: readonly number[];
}

export async function tryOrder(
  callers: readonly Caller[],
  lab: Lab,
  choices: readonly number[],
): Promise<{ finding: Finding | undefined; story: Finding; branches: readonly Branch[] }> {
  const attempt = new Attempt(lab, await lab.newOrder(), callers);
  const made: number[] = [];
  const branches: Branch[] = [];
  const effects = new Effects();
  attempt.start();
  for (let ready = await attempt.ready(); ready.length > 0; ready = await attempt.ready()) {
    let at = 0;
    if (ready.length > 1) {
      at = Math.min(choices[made.length] ?? 0, ready.length - 1);
      const others = ready.map((_, other) => other).filter((other) => other !== at);
      branches.push({ prefix: [...made], state: effects.state, others });
      made.push(at);
    }
    const caller = ready[at]!;
    effects.add(attempt.nameOf(caller), await attempt.step(caller));
  }
  await attempt.end();
  let truth = await lab.truth(attempt.order);
  if (!truth.paid) {
    attempt.lines.push({ who: ' ', text: 'the next delivery', notes: [] });
    await deliverUntilDone(lab, attempt);
    truth = await lab.truth(attempt.order);
  }
  const story = findingOf('order', numberOf(choices, callers.length), attempt, truth);
  return { finding: faultOf(attempt, truth) && story, story, branches };
}

/** Delivers again, alone. A lock of a connection that just broke may hold for a moment. */
export async function deliverUntilDone(lab: Lab, { order }: Attempt): Promise<Delivered> {
  let delivered = await lab.observer.deliver(order);
  for (let again = 0; again < 2 && !delivered.isAcknowledged; again += 1)
    delivered = await lab.observer.deliver(order);
  return delivered;
}

/**
 * Names the effects of the rounds so far, so that two orders which differ in reads alone count as
 * one. Inside a transaction also a read counts, because it may fix what the next one sees.
 */
class Effects {
  readonly #of = new Map<string, string>();
  #ordered = '';
  #count = 0;

  get state(): string {
    return `${this.#ordered}|${[...this.#of].toSorted().join('|')}`;
  }

  add(who: string, { isRead, isInTransaction }: { isRead: boolean; isInTransaction: boolean }) {
    const isOrdered = !isRead || isInTransaction;
    if (isOrdered) {
      this.#ordered += who;
      this.#count += 1;
    }
    this.#of.set(who, `${this.#of.get(who) ?? ''},${isOrdered ? 'w' : this.#count}`);
  }
}

/** The callers of the next try, who are replaced if their process has ended. */
class Crew {
  readonly #callers: Caller[] = [];

  constructor(
    readonly lab: Lab,
    readonly size: number,
  ) {}

  async ready(): Promise<readonly Caller[]> {
    for (let at = 0; at < this.size; at += 1)
      if (this.#callers[at]?.isAlive !== true) this.#callers[at] = await this.lab.newCaller();
    return this.#callers;
  }
}

/** Writes the choices as the digits of a number, after a 1. Even numbers are orders. */
function numberOf(choices: readonly number[], callers: number): number {
  return 2 * choices.reduce((number, choice) => number * callers + choice, 1);
}

export function choicesOf(number: number, callers: number): number[] {
  const digits = (number / 2).toString(callers).slice(1);
  return Array.from(digits, Number);
}
