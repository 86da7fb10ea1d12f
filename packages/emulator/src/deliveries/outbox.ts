import { setMaxListeners } from 'node:events';
import { clearTimeout, setTimeout } from 'node:timers';
import { check } from '@paylink/core/internal';
import { EmulatorError } from '../base/emulator-error.js';
import { report } from '../base/report.js';
import { quote } from '../base/visible-text.js';
import type { Assumed, DeliverySwitches } from '../contract/assumed.js';
import type { WebhookTarget } from '../server/target.js';
import { sendOnce } from './attempt.js';
import type { DeliveryAttempt, EmulatorDelivery } from './delivery.js';
import { createEntry, toDelivery, type Entry } from './entry.js';
import { retryDelay } from './retry-delay.js';

export interface OutboxOptions {
  readonly target: WebhookTarget;
  readonly secret: string;
  readonly assumed: Assumed;
  /** Called when a delivery is created, and after each reply. */
  readonly onChange: () => void;
}

const ATTEMPTS_KEPT = 50;

// Node's own timers, not the globals that a test may fake: retries continue while the test's clock
// stands still.

/** Sends notifications and retries each until the receiver acknowledges it. */
export class Outbox {
  readonly #options: OutboxOptions;
  /** The deliveries by id, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Set<Promise<unknown>>();
  #life = newLife();
  /** A notification that waits until your server has answered the next one. */
  #held: Entry | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Starts a delivery. Does not wait for the reply. */
  send(reference: string, body: string, switches: DeliverySwitches): void {
    if (this.#life.signal.aborted) return;
    const { times = 1, delay = 0, afterNext = false } = switches;
    const entry = createEntry(reference, body);
    this.#entries.set(entry.id, entry);
    // Two notifications that wait for each other would wait forever, so the second one goes out.
    const isHeld = afterNext && this.#held === undefined;
    if (times === 0) entry.state = 'unsent';
    else if (isHeld) this.#held = entry;
    else if (delay > 0) this.#startAt(entry, delay, times);
    else this.#startAndRelease(entry, times);
    this.#changed(entry);
  }

  /**
   * Sends a delivery again, in any state, and returns the attempt.
   *
   * @throws EmulatorError `delivery_not_found`
   */
  async resend(id: string): Promise<DeliveryAttempt> {
    check(typeof id === 'string', 'id', 'must be a string');
    const entry = this.#entries.get(id);
    if (entry === undefined)
      throw new EmulatorError('delivery_not_found', `the delivery ${quote(id)} does not exist`);
    const [done] = await this.#attempt(entry, 1);
    return done!;
  }

  /** Returns every delivery, oldest first. */
  list(): EmulatorDelivery[] {
    const { href } = this.#options.target.url;
    return Array.from(this.#entries.values(), (entry) => toDelivery(entry, href));
  }

  /** Deletes every delivery. Resolves when the last request in progress has ended. */
  async reset(): Promise<void> {
    const ended = this.#end('the emulator was reset');
    this.#life = newLife();
    this.#entries.clear();
    this.#held = undefined;
    await ended;
  }

  /** Stops every timer and aborts the requests in progress. */
  close(): void {
    void this.#end('the emulator was closed');
  }

  #end(reason: string): Promise<unknown> {
    for (const entry of this.#entries.values()) cancelNext(entry);
    this.#life.abort(new Error(reason));
    return Promise.allSettled(this.#running);
  }

  #changed(entry: Entry): void {
    if (entry.state !== 'pending') this.#forgetOldest();
    this.#options.onChange();
  }

  #forgetOldest(): void {
    const ended = [...this.#entries.values()].filter(({ state }) => state !== 'pending');
    if (ended.length > this.#options.assumed.deliveriesKept) this.#entries.delete(ended[0]!.id);
  }

  /** Sends a notification and, after the reply, the held notification. */
  #startAndRelease(entry: Entry, times: number): void {
    const held = this.#held;
    this.#held = undefined;
    this.#start(entry, times, () => {
      if (held?.started === 0) this.#start(held, 1);
    });
  }

  #start(entry: Entry, times: number, done?: () => void): void {
    this.#attempt(entry, times).then(done).catch(report);
  }

  #startAt(entry: Entry, delay: number, times = 1): void {
    const timer = setTimeout(() => {
      entry.next = undefined;
      this.#start(entry, times);
    }, delay);
    entry.next = { timer, at: new Date(Date.now() + delay) };
  }

  /** Sends `times` copies at the same time, and concludes after the last reply. */
  async #attempt(entry: Entry, times: number): Promise<DeliveryAttempt[]> {
    const { signal } = this.#life;
    cancelNext(entry);
    const copies = Array.from({ length: times }, () => this.#attemptOnce(entry, signal));
    const newest = entry.started;
    const done = await Promise.all(copies);
    if (signal.aborted) return done;
    this.#conclude(entry, done, newest === entry.started);
    this.#changed(entry);
    return done;
  }

  async #attemptOnce(entry: Entry, signal: AbortSignal): Promise<DeliveryAttempt> {
    const { target, secret, assumed } = this.#options;
    const sending = sendOnce({
      target,
      body: entry.body,
      secret,
      number: ++entry.started,
      timeout: assumed.deliveryTimeout,
      signal,
    });
    this.#running.add(sending);
    const done = await sending;
    this.#running.delete(sending);
    entry.attempts.push(done);
    if (entry.attempts.length > ATTEMPTS_KEPT) entry.attempts.shift();
    return done;
  }

  #conclude(entry: Entry, attempts: readonly DeliveryAttempt[], isNewest: boolean): void {
    const isAcknowledged = attempts.some(
      ({ response: { status } = { status: 0 } }) => status >= 200 && status <= 299,
    );
    if (isAcknowledged) {
      cancelNext(entry);
      entry.state = 'delivered';
      return;
    }
    // An ended delivery that was sent again is not due. An older attempt that ends late must not
    // start a second row of retries.
    if (entry.state !== 'pending' || !isNewest) return;
    this.#startAt(entry, retryDelay(entry.failures++, this.#options.assumed));
  }
}

function cancelNext(entry: Entry): void {
  clearTimeout(entry.next?.timer);
  entry.next = undefined;
}

function newLife(): AbortController {
  const life = new AbortController();
  // Each running request adds one listener.
  setMaxListeners(0, life.signal);
  return life;
}
