/** One run per tenant and order: the other callers of an order wait for it. */
import { WebhookError } from '@paylink/core';
import { withinBounds } from '@paylink/core/internal';
import { keyOf, now, startTimer } from './asker.js';
import type { Settings } from './options.js';
import { refusal, type Verdict } from './outcome.js';
import { findOrder, settleOrder, type Ended, type Task } from './settle-order.js';

/** Milliseconds for which a `credit` that does not settle keeps its order's place. */
const LONGEST_CREDIT = 300_000;

interface Run {
  readonly verdict: Promise<Verdict>;
  /** Resolves when the next run of the order may start. */
  readonly free: Promise<unknown>;
}

export class Runs {
  readonly #settings: Settings;
  readonly #runs = new Map<string, Run>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Settles the order, or waits for the run that does. After another's run, the order's row
   * decides, because that run may have been rolled back. A webhook then runs anew, because the
   * customer may have paid at a second try.
   */
  async settle(task: Task): Promise<Verdict> {
    const key = keyOf(task);
    for (;;) {
      const run = this.#runs.get(key);
      if (run === undefined) return this.#start(key, task).verdict;
      try {
        this.#settings.askerOf(task.tenant).hurry(task);
        const verdict = await untilEnd(run.verdict, task);
        const { paid } = await findOrder(this.#settings, task);
        if (paid === true) return { outcome: 'paid', payment: verdict.payment };
        if (task.source !== 'webhook') return isYes(verdict) ? rolledBack(verdict) : verdict;
        await untilEnd(run.free, task);
      } catch (error) {
        return refusal(error);
      }
    }
  }

  #start(key: string, task: Task): Run {
    const ending = settleOrder(this.#settings, task);
    const run: Run = {
      verdict: ending.then(({ verdict }) => verdict),
      free: ending.then(untilFinished).catch(() => undefined),
    };
    this.#runs.set(key, run);
    void run.free.then(() => this.#runs.delete(key));
    return run;
  }
}

async function untilFinished({ unfinished }: Ended): Promise<void> {
  if (unfinished === undefined) return;
  await new Promise<void>((resolve) => {
    const timer = startTimer(resolve, LONGEST_CREDIT);
    // A process that has nothing else to do may end.
    (timer as Partial<NodeJS.Timeout>).unref?.();
    const finish = (): void => {
      clearTimeout(timer);
      resolve();
    };
    unfinished.then(finish, finish);
  });
}

/** @throws WebhookError `handler_timeout` */
function untilEnd<T>(running: Promise<T>, { end }: Task): Promise<T> {
  const message = 'another run of the same order has not ended: look for a row that is locked';
  const reason = (): unknown => new WebhookError('handler_timeout', { message });
  return withinBounds(running, { milliseconds: Math.max(1, end - now()), reason });
}

function isYes({ outcome }: Verdict): boolean {
  return outcome === 'credited' || outcome === 'paid';
}

function rolledBack({ payment }: Verdict): Verdict {
  const message =
    'another run has credited the order, and find() says unpaid: that run was rolled back, or ' +
    'find() reads old data';
  return { ...refusal(new WebhookError('not_credited', { message })), payment };
}
