/** One run per tenant and order: the other callers of an order wait for it. */
import { WebhookError } from '@paylink/core';
import type { Settings } from './options.js';
import { refusal, type Verdict } from './outcome.js';
import { now } from './pace.js';
import type { Run } from './run.js';
import { findOrder, settleOrder } from './settle-order.js';

/** Milliseconds for which a `credit` that does not settle keeps its order's place. */
const LONGEST_CREDIT = 300_000;

/** The place of an order, which one run holds. */
interface Place {
  readonly run: Run;
  readonly verdict: Promise<Verdict>;
}

export class Runs {
  readonly #settings: Settings;
  readonly #places = new Map<string, Place>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Settles the order, or waits for the run that does. */
  settle(caller: Run): Promise<Verdict> {
    const place = this.#places.get(caller.key);
    const isFree = place === undefined || place.run.isDead;
    return isFree ? this.#start(caller) : this.#join(place, caller);
  }

  #start(run: Run): Promise<Verdict> {
    run.start = now();
    const verdict = settleOrder(this.#settings, run);
    const place: Place = { run, verdict };
    const { key } = run;
    this.#places.set(key, place);
    const leave = (): void => {
      if (this.#places.get(key) === place) this.#places.delete(key);
    };
    const end = (): void => {
      if (run.unfinished === undefined) return leave();
      run.deadline = now() + LONGEST_CREDIT;
      run.unfinished.then(leave, leave);
    };
    verdict.then(end, end);
    return verdict;
  }

  /**
   * After another's run, the order's row decides, because that run may have been rolled back. A
   * webhook then runs anew, unless a run that a webhook began after it came has asked already: the
   * customer may have paid at a second try.
   */
  async #join({ run, verdict }: Place, caller: Run): Promise<Verdict> {
    const waitFor = <T>(running: Promise<T>): Promise<T> =>
      caller.wait(
        '',
        () => running,
        () => stillWaiting(run),
      );
    try {
      run.hurry(caller);
      const ended = await waitFor(verdict);
      const { paid } = await findOrder(this.#settings, caller);
      if (paid === true) return { outcome: 'paid', payment: ended.payment };
      const isNewer = run.source === 'webhook' && run.start >= caller.start;
      if (caller.source !== 'webhook' || isNewer) return isYes(ended) ? rolledBack(ended) : ended;
      // A credit that hangs keeps the place of its order.
      if (run.unfinished) await waitFor(run.unfinished.catch(() => undefined));
    } catch (error) {
      return refusal(error);
    }
    return this.settle(caller);
  }
}

function stillWaiting({ step }: Run): WebhookError {
  const hint = step === 'the service' ? '' : ': look for a row that is locked';
  const message = `another run of the same order still waits for ${step}${hint}`;
  return new WebhookError('handler_timeout', { message });
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
