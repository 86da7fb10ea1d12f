import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { clearTimeout, setTimeout } from 'node:timers';
import { check } from '@paylink/core/internal';
import { EmulatorError } from '../base/emulator-error.js';
import { report, reportErrorsOf } from '../base/report.js';
import { quote } from '../base/visible-text.js';
import type { Assumed, DeliverySwitches } from '../contract/assumed.js';
import type { Payment } from '../contract/payment.js';
import { validateDelivery } from '../contract/validate-assumed.js';
import type { WebhookTarget } from '../server/target.js';
import type { DeliveryAttempt, EmulatorDelivery } from './delivery.js';
import { sendOnce } from './post.js';
import { Waiting } from './waiting.js';

export interface OutboxOptions {
  /** Undefined if the emulator does not send notifications. */
  readonly target: WebhookTarget | undefined;
  readonly webhookSecret: string;
  readonly assumed: Assumed;
  readonly onAttempt: (delivery: EmulatorDelivery, attempt: DeliveryAttempt) => void;
}

/** A delivery as the outbox works on it. */
interface Entry {
  readonly delivery: { -readonly [Name in keyof EmulatorDelivery]: EmulatorDelivery[Name] } & {
    readonly attempts: DeliveryAttempt[];
  };
  /** The body of the notification, which every attempt signs and sends. */
  readonly body: string;
  /** The number of copies of the first attempt. */
  readonly times: number;
  /** The number of failures, which lengthen the next wait. */
  failures: number;
  timer?: NodeJS.Timeout;
}

const ATTEMPTS_KEPT = 50;
/** The number of ended deliveries. Pending ones always stay. */
const DELIVERIES_KEPT = 1_000;

// Node's own timers, not the globals that a test may fake: retries continue while the test's clock
// stands still.

/** Sends notifications and retries each until the receiver acknowledges it. */
export class Outbox {
  readonly waiting = new Waiting(() => this.list());
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

  /**
   * Notifies of a payment. Does not wait for the reply. Prints an error from `assumed`, because the
   * customer has paid all the same.
   *
   * @param chosen replaces `assumed.delivery`
   */
  notify(payment: Payment, chosen: DeliverySwitches | undefined): void {
    const { assumed } = this.#options;
    try {
      const body = JSON.stringify(assumed.notificationBody(payment)) as string | undefined;
      if (body === undefined) throw new Error('assumed.notificationBody did not return an object');
      this.#send(payment.reference, body, chosen ?? validateDelivery(assumed.delivery(payment)));
    } catch (error) {
      report(error);
    }
  }

  #send(reference: string, body: string, switches: DeliverySwitches): void {
    const { target } = this.#options;
    if (target === undefined || this.#life.signal.aborted) return;
    const { times = 1, delay = 0, afterNext = false } = switches;
    const delivery: Entry['delivery'] = {
      id: randomUUID(),
      event: 'payment.succeeded',
      reference,
      url: target.url.href,
      createdAt: new Date(),
      state: times === 0 ? 'unsent' : 'pending',
      attemptCount: 0,
      attempts: [],
    };
    const entry: Entry = { delivery, body, times, failures: 0 };
    this.#entries.set(delivery.id, entry);
    // Two notifications that wait for each other would wait forever, so the second one goes out.
    const isHeld = afterNext && this.#held === undefined;
    if (times > 0) {
      if (isHeld) this.#held = entry;
      else if (delay > 0) this.#startAt(entry, delay, () => this.#startAndRelease(entry));
      else this.#startAndRelease(entry);
    }
    this.#changed(entry);
  }

  /** Returns the webhook. @throws EmulatorError `no_webhook` */
  target(): WebhookTarget {
    const { target } = this.#options;
    if (target !== undefined) return target;
    const message = 'webhook.url is not set, so the emulator does not send notifications';
    throw new EmulatorError('no_webhook', message);
  }

  /**
   * Sends a delivery again, in any state, and returns the attempt.
   *
   * @throws EmulatorError `no_webhook` or `delivery_not_found`
   */
  async resend(id: string): Promise<DeliveryAttempt> {
    this.target();
    check(typeof id === 'string', 'id', 'must be a string');
    const entry = this.#entries.get(id);
    if (entry === undefined)
      throw new EmulatorError('delivery_not_found', `the delivery ${quote(id)} does not exist`);
    const [done] = await this.#attempt(entry, 1);
    return done!;
  }

  /** Returns a copy of every delivery, oldest first. */
  list(): EmulatorDelivery[] {
    return Array.from(this.#entries.values(), copyOf);
  }

  /** Deletes every delivery. Resolves when the last request in progress has ended. */
  async reset(): Promise<void> {
    const ended = this.#end('emulator_reset', 'the emulator was reset');
    this.#life = newLife();
    this.#entries.clear();
    this.#held = undefined;
    await ended;
  }

  /** Stops every timer and aborts the requests in progress. */
  close(): void {
    void this.#end('emulator_closed', 'the emulator was closed');
  }

  #end(code: 'emulator_reset' | 'emulator_closed', reason: string): Promise<unknown> {
    this.waiting.endAll(code, reason);
    for (const entry of this.#entries.values()) cancelNext(entry);
    this.#life.abort(new Error(reason));
    return Promise.allSettled(this.#running);
  }

  #changed({ delivery }: Entry): void {
    if (delivery.state !== 'pending') this.#forgetOldest();
    this.waiting.look();
  }

  #forgetOldest(): void {
    const all = Array.from(this.#entries.values(), ({ delivery }) => delivery);
    const ended = all.filter(({ state }) => state !== 'pending');
    if (ended.length > DELIVERIES_KEPT) this.#entries.delete(ended[0]!.id);
  }

  /** Sends a notification and, after the reply, the held notification. */
  #startAndRelease(entry: Entry): void {
    const held = this.#held;
    this.#held = undefined;
    this.#start(entry, entry.times, () => {
      if (held?.delivery.attemptCount === 0) this.#start(held, held.times);
    });
  }

  #start(entry: Entry, times: number, done?: () => void): void {
    this.#attempt(entry, times).then(done).catch(report);
  }

  #startAt(entry: Entry, delay: number, start = () => this.#start(entry, 1)): void {
    entry.timer = setTimeout(() => {
      delete entry.delivery.nextAttemptAt;
      start();
    }, delay);
    entry.delivery.nextAttemptAt = new Date(Date.now() + delay);
  }

  /** Sends `times` copies at the same time, and concludes after the last reply. */
  async #attempt(entry: Entry, times: number): Promise<DeliveryAttempt[]> {
    const { signal } = this.#life;
    cancelNext(entry);
    const copies = Array.from({ length: times }, () => this.#attemptOnce(entry, signal));
    const newest = entry.delivery.attemptCount;
    const done = await Promise.all(copies);
    if (signal.aborted) return done;
    this.#conclude(entry, done, newest === entry.delivery.attemptCount);
    this.#changed(entry);
    for (const each of done) reportErrorsOf(() => this.#options.onAttempt(copyOf(entry), each));
    return done;
  }

  async #attemptOnce({ delivery, body }: Entry, signal: AbortSignal): Promise<DeliveryAttempt> {
    const { webhookSecret: secret, assumed } = this.#options;
    const sending = sendOnce({
      target: this.target(),
      body,
      secret,
      number: ++delivery.attemptCount,
      timeout: assumed.deliveryTimeout,
      signal,
    });
    this.#running.add(sending);
    const done = await sending;
    this.#running.delete(sending);
    delivery.attempts.push(done);
    if (delivery.attempts.length > ATTEMPTS_KEPT) delivery.attempts.shift();
    return done;
  }

  #conclude(entry: Entry, attempts: readonly DeliveryAttempt[], isNewest: boolean): void {
    const isAcknowledged = attempts.some(
      ({ response: { status } = { status: 0 } }) => status >= 200 && status <= 299,
    );
    if (isAcknowledged) {
      cancelNext(entry);
      entry.delivery.state = 'delivered';
      return;
    }
    // An ended delivery that was sent again is not due. An older attempt that ends late must not
    // start a second row of retries.
    if (entry.delivery.state !== 'pending' || !isNewest) return;
    const { firstRetryDelay, longestRetryDelay } = this.#options.assumed;
    const limit = Math.min(longestRetryDelay, firstRetryDelay * 2 ** entry.failures++);
    // Full jitter, because deliveries that failed together must not retry together.
    this.#startAt(entry, Math.random() * limit);
  }
}

function cancelNext({ delivery, timer }: Entry): void {
  clearTimeout(timer);
  delete delivery.nextAttemptAt;
}

function copyOf({ delivery }: Entry): EmulatorDelivery {
  return { ...delivery, attempts: [...delivery.attempts] };
}

function newLife(): AbortController {
  const life = new AbortController();
  // Each running request adds one listener.
  setMaxListeners(0, life.signal);
  return life;
}
