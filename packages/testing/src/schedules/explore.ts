/** Tries every sequence and every cut of a merchant's credit. */
import { NotTestable, readDatabase, type Database } from './database.js';
import type { Subject } from './subject.js';
import { isKill, numberOfCut, numberOfOrder, tryOne, type Finding, type Tried } from './try-one.js';

export interface ExploreOptions {
  /** The number of deliveries of one order that race, 2 or 3. Default 2. */
  readonly callers?: number | undefined;
  /** Milliseconds after which the test stops trying. Default 60,000. */
  readonly timeLimit?: number | undefined;
  /** `orders` or `cuts` alone. */
  readonly only?: 'orders' | 'cuts' | undefined;
  /** The number of a finding, to try only this one. */
  readonly replay?: number | undefined;
  readonly onProgress?: ((progress: { orders: number; cuts: number }) => unknown) | undefined;
}

export interface SchedulesReport {
  readonly orders: Explored;
  readonly cuts: Explored;
  readonly findings: readonly Finding[];
  /** Names each part that was not tried, with the reason. */
  readonly notTested: readonly string[];
}

export interface Explored {
  tried: number;
  /** Known tries that a limit left out. */
  left: number;
}

const MOST_ORDERS = 2_000;
const MOST_CUTS = 200;
/** A finding's number holds the choices that lead to it. */
const MOST_CHOICES = 30;

/**
 * Delivers orders while a proxy decides in which order their rounds reach the database, and cuts
 * deliveries off. Stops trying sequences at the first finding. The cuts add a finding for each new
 * fault.
 *
 * @throws Error with the code `misconfigured` if the subject or the database cannot be used
 */
export async function explore(
  databaseUrl: string,
  open: (database: Database) => Promise<Subject>,
  { callers = 2, timeLimit = 60_000, only, replay, onProgress }: ExploreOptions,
): Promise<SchedulesReport> {
  const orders: Explored = { tried: 0, left: 0 };
  const cuts: Explored = { tried: 0, left: 0 };
  const findings: Finding[] = [];
  const notTested: string[] = [];
  const report: SchedulesReport = { orders, cuts, findings, notTested };
  let subject: Subject;
  try {
    subject = await open(readDatabase(databaseUrl));
  } catch (error) {
    if (!(error instanceof NotTestable)) throw error;
    return { ...report, notTested: [error.message] };
  }
  const start = performance.now();
  const isOver = (share = 1): boolean => performance.now() - start > timeLimit * share;
  // Many orders must not leave the cuts without time.
  const shareOfOrders = only === undefined ? 1 / 2 : 1;
  const run = async (number: number): Promise<Tried> => {
    const outcome = await tryOne(subject, number, callers);
    const { isReached, finding } = outcome;
    if (isReached) report[`${finding.kind}s`].tried += 1;
    onProgress?.({ orders: orders.tried, cuts: cuts.tried });
    // A delivery that ends before its cut can be acknowledged too early all the same.
    const isNew = !findings.some(({ fault }) => fault === finding.fault);
    if (finding.fault !== '' && isNew) findings.push(finding);
    return outcome;
  };
  const tryEveryOrder = async (): Promise<void> => {
    const seen = new Set<string>();
    const kinds = subject.total === undefined ? [false] : [false, true];
    const pending = kinds.map((isShared) => ({ isShared, choices: [] as readonly number[] }));
    let isDeep = false;
    // The fewest changes between the deliveries come first, because most races need one or two.
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const { isShared, choices } = next;
      orders.left = pending.length + 1;
      if (isOver(shareOfOrders) || orders.tried === MOST_ORDERS) return;
      const { branches } = await run(numberOfOrder(choices, callers, isShared));
      isDeep ||= branches.length > MOST_CHOICES;
      orders.left = Number(isDeep);
      if (findings.length > 0) return;
      // An order whose rounds had the same effects so far was tried, or waits to be tried.
      for (const { prefix, state, others } of branches.slice(choices.length, MOST_CHOICES)) {
        const known = `${isShared} ${state}`;
        if (seen.has(known)) break;
        seen.add(known);
        for (const other of others) pending.push({ isShared, choices: [...prefix, other] });
      }
    }
  };
  const tryEveryCut = async (): Promise<void> => {
    for (let cut = 0, isReached = true; isReached; cut += 1) {
      cuts.left = Number(isOver() || cut === MOST_CUTS);
      if (cuts.left > 0) return;
      if (!subject.hasConnections && !isKill(cut)) continue;
      const number = numberOfCut(cut);
      const tried = await run(number);
      // A process can end by itself soon after an earlier cut. Another one takes its place.
      const isLost = !tried.isReached && !tried.isAcknowledged;
      ({ isReached } = isLost ? await run(number) : tried);
    }
  };
  try {
    if (replay !== undefined) return { ...report, findings: [(await run(replay)).finding] };
    const limit = (share = 1): string => (isOver(share) ? 'the time limit' : 'a fixed limit');
    if (only !== 'cuts') await tryEveryOrder();
    if (orders.left > 0)
      notTested.push(
        `${orders.left} or more orders, after ${orders.tried}: ${limit(shareOfOrders)}`,
      );
    if (only !== 'orders') await tryEveryCut();
    if (cuts.left > 0) notTested.push(`the cuts after the first ${cuts.tried}: ${limit()}`);
    if (!subject.hasEffects)
      notTested.push('further writes: nothing counts the effects of a reference');
    if (subject.total === undefined)
      notTested.push('two orders that share a row: nothing reads a total');
    return report;
  } finally {
    await subject.close();
  }
}
