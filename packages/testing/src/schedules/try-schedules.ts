/** Tries every order and every cut of a merchant's credit. */
import { NotTestable } from './database.js';
import { choicesOf, tryEveryOrder, tryOrder } from './every-order.js';
import { tryCut, tryEveryCut } from './every-cut.js';
import type { Explored, Finding } from './finding.js';
import { Lab, type LabOptions } from './lab.js';

export interface TrySchedulesOptions extends LabOptions {
  /** How many deliveries of one order race, 2 or 3. Default 2. */
  readonly callers?: number | undefined;
  /** Milliseconds after which nothing more is tried. Default 60,000. */
  readonly timeLimit?: number | undefined;
  /** `orders` or `cuts` alone. */
  readonly only?: 'orders' | 'cuts' | undefined;
  /** The number of a finding: tries this alone. */
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

export const NOTHING: Explored = { tried: 0, left: 0, findings: [] };

/**
 * Delivers orders through the module in separate processes. A proxy decides in which order
 * their rounds reach the database, and cuts deliveries off.
 *
 * @throws Error with the code `misconfigured` if the module or the database cannot be used
 */
export async function trySchedules(options: TrySchedulesOptions): Promise<SchedulesReport> {
  const { callers = 2, timeLimit = 60_000, only, replay, onProgress } = options;
  let lab: Lab;
  try {
    lab = await Lab.open(options);
  } catch (error) {
    if (!(error instanceof NotTestable)) throw error;
    return { orders: NOTHING, cuts: NOTHING, findings: [], notTested: [error.message] };
  }
  try {
    if (replay !== undefined) return await replayOne(lab, callers, replay);
    const start = performance.now();
    const isOver = (): boolean => performance.now() - start > timeLimit;
    const orders =
      only === 'cuts'
        ? NOTHING
        : await tryEveryOrder(lab, callers, {
            isOver,
            onTry: (tried) => onProgress?.({ orders: tried, cuts: 0 }),
          });
    const cuts =
      only === 'orders'
        ? NOTHING
        : await tryEveryCut(lab, {
            isOver,
            onTry: (tried) => onProgress?.({ orders: orders.tried, cuts: tried }),
          });
    const notTested = [
      ...(orders.left > 0 ? [`${orders.left} or more orders, after ${orders.tried}: a limit`] : []),
      ...(cuts.left > 0 ? [`the cuts after the first ${cuts.tried}: the time limit`] : []),
      ...(lab.hasEffects ? [] : ['further writes: nothing counts the effects of a reference']),
    ];
    return { orders, cuts, findings: [...orders.findings, ...cuts.findings], notTested };
  } finally {
    await lab.close();
  }
}

async function replayOne(lab: Lab, callers: number, number: number): Promise<SchedulesReport> {
  const isOrder = number % 2 === 0;
  const { story } = isOrder
    ? await tryOrder(await crewOf(lab, callers), lab, choicesOf(number, callers))
    : await tryCut(await lab.newCaller(), lab, (number - 1) / 2);
  const explored = { tried: 1, left: 0, findings: [story] };
  return {
    orders: isOrder ? explored : NOTHING,
    cuts: isOrder ? NOTHING : explored,
    findings: [story],
    notTested: [],
  };
}

async function crewOf(lab: Lab, size: number) {
  return Promise.all(Array.from({ length: size }, async () => lab.newCaller()));
}
