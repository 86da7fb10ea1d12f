/** One run per tenant and order: the other callers of an order wait for it. */
import { WebhookError } from '@paylink/core';
import { withinBounds } from '@paylink/core/internal';
import type { Settings } from './options.js';
import { keyOf } from './order.js';
import { refusal, type Verdict } from './outcome.js';
import { now, startTimer } from './pace.js';
import { findOrder, settleOrder, type Task } from './settle-order.js';

/** Milliseconds for which a `credit` that does not settle keeps its order's place. */
const LONGEST_CREDIT = 300_000;

interface Run {
  readonly task: Task;
  readonly verdict: Promise<Verdict>;
  /** Resolves when the next run of the order may start. */
  readonly free: Promise<unknown>;
  /** The value of `now()` after which the run has died: a Worker ends work without a word. */
  until: number;
}

export class Runs {
  readonly #settings: Settings;
  readonly #runs = new Map<string, Run>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Settles the order, or waits for the run that does. After another's run, the order's row
   * decides, because that run may have been rolled back. A webhook then runs anew, unless a run
   * that a webhook began after it came has asked already: the customer may have paid at a second
   * try.
   */
  async settle(task: Task): Promise<Verdict> {
    const key = keyOf(task);
    for (;;) {
      const run = this.#runs.get(key);
      if (run === undefined || now() > run.until) return this.#start(key, task).verdict;
      try {
        run.task.rank = Math.min(run.task.rank, task.rank);
        run.task.asker?.hurry(task);
        const verdict = await untilEnd(run.verdict, run, task);
        const { paid } = await findOrder(this.#settings, task);
        if (paid === true) return { outcome: 'paid', payment: verdict.payment };
        const isNewer = run.task.source === 'webhook' && run.task.start >= task.start;
        if (task.source !== 'webhook' || isNewer) {
          return isYes(verdict) ? rolledBack(verdict) : verdict;
        }
        await untilEnd(run.free, run, task);
      } catch (error) {
        return refusal(error);
      }
    }
  }

  #start(key: string, { ...task }: Task): Run {
    task.start = now();
    const { timeout } = this.#settings;
    const ending = settleOrder(this.#settings, task);
    const run: Run = {
      task,
      verdict: ending.then(({ verdict }) => verdict),
      free: ending
        .then(({ unfinished }) => {
          if (unfinished === undefined) return undefined;
          run.until = now() + LONGEST_CREDIT;
          return untilFinished(unfinished);
        })
        .catch(() => undefined),
      // Each step of a run of the schedule has its own time.
      until: task.end + timeout * (task.source === 'reconcile' ? 4 : 1),
    };
    this.#runs.set(key, run);
    void run.free.then(() => this.#runs.get(key) === run && this.#runs.delete(key));
    return run;
  }
}

async function untilFinished(unfinished: Promise<unknown>): Promise<void> {
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
function untilEnd<T>(running: Promise<T>, run: Run, { end }: Task): Promise<T> {
  const reason = (): unknown => {
    const { step } = run.task;
    const hint = step === 'the service' ? '' : ': look for a row that is locked';
    const message = `another run of the same order still waits for ${step}${hint}`;
    return new WebhookError('handler_timeout', { message });
  };
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
