import { setMaxListeners } from 'node:events';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Assumed } from '../assumed.js';
import { EmulatorError } from '../emulator-error.js';
import { describeFault, isFault, type Fault } from '../faults/faults.js';
import type { FaultyDelivery } from '../faults/faulty-notifications.js';
import { expectationOf, judge, type Verdict } from '../faults/verdict.js';
import { LONGEST_TIMER } from '../longest-timer.js';
import type { PaymentStatus } from '../payments/payment.js';
import type { Random } from '../random.js';
import { report } from '../report.js';
import type { Target } from '../server/target.js';
import { fromJson, toJson } from '../state/json.js';
import type { Store } from '../state/state-file.js';
import { quote } from '../visible-text.js';
import { attempt, toRequest, type DeliveryAttempt, type SentRequest } from './attempt.js';
import type { EmulatorDelivery, FaultOutcome } from './delivery.js';
import { Disturbances, type Disturbance, type Disturbed } from './disturbances.js';
import { Lanes } from './lanes.js';
import { signNotification, type Notification } from './notification.js';
import type { Pace } from './send.js';

interface Entry {
  readonly id: string;
  readonly reference: string;
  /** Faults bring their own notifications. */
  readonly hasNotification: boolean;
  /**
   * The body of the notification. Also undefined if `assumed.notificationBody` returned undefined.
   */
  readonly body?: string | undefined;
  /** The signed body, which every attempt sends. */
  readonly notification: Promise<Notification> | undefined;
  readonly createdAt: Date;
  readonly attempts: DeliveryAttempt[];
  /** Aborts when the emulator closes or resets. */
  readonly signal: AbortSignal;
  fault?: EmulatorDelivery['fault'];
  paymentStatus?: PaymentStatus;
  verdict?: Verdict;
  state: EmulatorDelivery['state'];
  started: number;
  failures: number;
  retry?: { readonly timer: NodeJS.Timeout; readonly at: Date } | undefined;
  isKept: boolean;
}

interface FaultToSend {
  readonly fault: Fault;
  /** Read again after the answers. */
  readonly payment: { readonly status: PaymentStatus };
  readonly make: () => Promise<FaultyDelivery>;
}

/** The state of a delivery in the state file. */
type KeptEntry = Omit<Entry, 'notification' | 'signal' | 'retry' | 'isKept'> & {
  readonly nextAttemptAt?: Date;
};

const KIND = 'delivery';
// Each attempt takes a kilobyte or two, and every later attempt writes it again.
const ATTEMPTS_OVER_RESTART = 10;

export interface OutboxOptions {
  readonly target: Target;
  readonly secret: string;
  readonly assumed: Assumed;
  readonly random: Random;
  readonly store: Store;
  /** Applies from the start, and again after a reset. */
  readonly disturb: Disturbance | undefined;
  readonly onChange: () => void;
}

// Bounds the memory: an attempt takes some kilobytes.
const ATTEMPTS_IN_ALL = 20_000;

// Node's own timers, not the globals that a test may fake: retries continue while the test's clock
// stands still.

/** Sends notifications and retries each until the receiver acknowledges it. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #lanes: Lanes;
  readonly #disturbances = new Disturbances();
  /**
   * Ids of ended deliveries, in the order of their ends. The outbox forgets the first one first.
   */
  readonly #finished: string[] = [];
  readonly #underway = new Set<Promise<unknown>>();
  #life = newLife();
  #isClosed = false;
  /** A notification that waits until the next notification is answered. */
  #held: Entry | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.assumed.deliveriesAtOnce);
    if (options.disturb !== undefined) this.#disturbances.add(options.disturb);
    for (const kept of options.store.read(KIND).values())
      this.#restore(fromJson(kept) as KeptEntry);
  }

  /** Starts a delivery at once unless a disturbance applies. Does not wait for the answer. */
  post(reference: string, body: Readonly<Record<string, unknown>>): void {
    if (this.#isClosed) return;
    const entry = this.#add(reference, true, JSON.stringify(body));
    const disturbed = this.#disturbances.take(reference);
    if (disturbed === undefined) this.#startAndRelease(entry);
    else this.#disturb(entry, disturbed);
    this.#changed(entry);
  }

  /** @throws ConfigurationError that names the option */
  disturb(disturbance: Disturbance): () => void {
    return this.#disturbances.add(disturbance);
  }

  /**
   * Sends a delivery again, in any state, and returns the attempt. An answer from another target
   * does not end the delivery.
   *
   * @throws EmulatorError `delivery_not_found`, `delivery_has_fault`, `emulator_closed`
   */
  async resend(id: string, target: Target = this.#options.target): Promise<DeliveryAttempt> {
    const entry = this.#entries.get(id);
    if (entry === undefined)
      throw new EmulatorError('delivery_not_found', `the delivery ${quote(id)} does not exist`);
    if (entry.notification === undefined) {
      throw new EmulatorError(
        'delivery_has_fault',
        'this delivery has a fault: send another fault with sendFault',
      );
    }
    this.#requireOpen();
    return this.#attempt(entry, target);
  }

  /**
   * Starts a fault of a payment. Returns the delivery's id, and a promise of the outcome.
   *
   * @throws EmulatorError `emulator_closed`
   */
  sendFault(
    payment: { readonly reference: string; readonly status: PaymentStatus },
    fault: Fault,
    make: () => Promise<FaultyDelivery>,
  ): { readonly id: string; readonly outcome: Promise<FaultOutcome> } {
    this.#requireOpen();
    const entry = this.#add(payment.reference, false);
    entry.fault = fault;
    entry.paymentStatus = payment.status;
    this.#changed(entry);
    return { id: entry.id, outcome: this.#sendFaulty(entry, { fault, payment, make }) };
  }

  /** Returns every delivery, oldest first. */
  list(): EmulatorDelivery[] {
    return Array.from(this.#entries.values(), (entry) => this.#snapshot(entry));
  }

  find(id: string): EmulatorDelivery | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : this.#snapshot(entry);
  }

  /** Returns the newest deliveries whose reference matches, newest first. */
  newest(count: number, fits: (reference: string) => boolean): EmulatorDelivery[] {
    const entries = Array.from(this.#entries.values()).filter(({ reference }) => fits(reference));
    return entries
      .slice(-count)
      .reverse()
      .map((entry) => this.#snapshot(entry));
  }

  /** Counts the pending deliveries. */
  countPending(): number {
    let count = 0;
    for (const { state } of this.#entries.values()) if (state === 'pending') count++;
    return count;
  }

  /** Forgets every delivery and disturbance. Resolves when the last running request has ended. */
  async reset(): Promise<void> {
    const ended = this.#end('the emulator was reset');
    this.#life = newLife();
    this.#entries.clear();
    this.#finished.length = 0;
    this.#held = undefined;
    this.#disturbances.clear();
    if (this.#options.disturb !== undefined) this.#disturbances.add(this.#options.disturb);
    await ended;
  }

  /** Stops every timer and aborts running requests. */
  close(): void {
    this.#isClosed = true;
    void this.#end('the emulator was closed');
  }

  #end(reason: string): Promise<unknown> {
    for (const { retry } of this.#entries.values()) clearTimeout(retry?.timer);
    this.#life.abort(new Error(reason));
    return Promise.allSettled(this.#underway);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new EmulatorError('emulator_closed', 'the emulator is closed');
  }

  #add(reference: string, hasNotification: boolean, body?: string): Entry {
    return this.#open({
      id: this.#newId(),
      reference,
      body,
      hasNotification,
      createdAt: new Date(),
      attempts: [],
      state: 'pending',
      started: 0,
      failures: 0,
    });
  }

  #open(kept: KeptEntry): Entry {
    const notification = kept.hasNotification ? this.#sign(kept.body) : undefined;
    const entry: Entry = { ...kept, notification, signal: this.#life.signal, isKept: false };
    // Each attempt reports a body that cannot be made. Without an attempt, the rejection must not
    // end the process.
    notification?.catch(() => undefined);
    this.#entries.set(entry.id, entry);
    return entry;
  }

  /** Resumes a delivery after a restart. Does not repeat an interrupted fault. */
  #restore({ nextAttemptAt, ...kept }: KeptEntry): void {
    const entry = this.#open(kept);
    if (entry.state !== 'pending') this.#finish(entry, entry.state);
    else if (isFault(entry.fault)) this.#finish(entry, 'sent');
    else this.#startLater(entry, Math.max(0, (nextAttemptAt?.getTime() ?? 0) - Date.now()));
  }

  #changed(entry: Entry): void {
    if (this.#entries.get(entry.id) === entry && !entry.signal.aborted) {
      const { notification, signal, retry, isKept, ...kept } = entry;
      const attempts = kept.attempts.slice(-ATTEMPTS_OVER_RESTART);
      this.#options.store.put(
        KIND,
        entry.id,
        toJson({ ...kept, attempts, nextAttemptAt: retry?.at }),
      );
    }
    this.#options.onChange();
  }

  #newId(): string {
    let id: string;
    do id = this.#options.random.uuid('delivery');
    while (this.#entries.has(id));
    return id;
  }

  async #sign(body: string | undefined): Promise<Notification> {
    const { secret, assumed } = this.#options;
    return signNotification({
      body: Buffer.from(body!),
      event: 'payment.succeeded',
      contentType: assumed.notificationContentType,
      secret,
    });
  }

  #disturb(entry: Entry, { kind, delay }: Disturbed): void {
    // Two reordered notifications would wait for each other forever, so the second one goes out.
    if (kind === 'reorder' && this.#held !== undefined) {
      this.#startAndRelease(entry);
      return;
    }
    entry.fault = kind;
    if (kind === 'drop') this.#finish(entry, 'dropped');
    else if (kind === 'delay') this.#startLater(entry, delay);
    else this.#held = entry;
  }

  /** Sends a notification and, after its answer, the held notification. */
  #startAndRelease(entry: Entry): void {
    const held = this.#held;
    this.#held = undefined;
    this.#start(entry, () => {
      if (held?.started === 0) this.#start(held);
    });
  }

  /** Sends when a lane is free. */
  #start(entry: Entry, done?: () => void): void {
    this.#lanes
      .run(async () => {
        // A resend may have been acknowledged while this attempt waited.
        if (entry.state === 'pending' && !entry.signal.aborted)
          await this.#attempt(entry, this.#options.target);
      })
      .then(done)
      .catch(report);
  }

  #startLater(entry: Entry, delay: number): void {
    const timer = setTimeout(() => {
      entry.retry = undefined;
      this.#start(entry);
    }, delay);
    entry.retry = { timer, at: new Date(Date.now() + delay) };
  }

  async #attempt(entry: Entry, target: Target): Promise<DeliveryAttempt> {
    const isElsewhere = target.url.href !== this.#options.target.url.href;
    if (!isElsewhere) this.#cancelRetry(entry);
    const done = await this.#send(entry, toRequest(target, await entry.notification!), { target });
    if (!isElsewhere) this.#conclude(entry, done);
    this.#changed(entry);
    return done;
  }

  async #send(
    entry: Entry,
    request: SentRequest,
    { target, pace }: { target: Target; pace?: Pace },
  ): Promise<DeliveryAttempt> {
    const { assumed } = this.#options;
    const pauses = pace?.kind === 'slow' ? pace.interval * request.rawBody.byteLength : 0;
    const sending = attempt(target, request, {
      number: ++entry.started,
      pace,
      timeout: Math.min(LONGEST_TIMER, assumed.deliveryTimeout + pauses),
      signal: entry.signal,
    });
    this.#underway.add(sending);
    const done = await sending;
    this.#underway.delete(sending);
    entry.attempts.push(done);
    const most = Math.max(
      1,
      Math.min(assumed.attemptsKept, Math.floor(ATTEMPTS_IN_ALL / Math.max(1, this.#entries.size))),
    );
    if (entry.attempts.length > most) entry.attempts.splice(0, entry.attempts.length - most);
    return done;
  }

  #conclude(entry: Entry, { response }: DeliveryAttempt): void {
    const { assumed, random } = this.#options;
    if (response !== undefined && assumed.acknowledged(response.status)) {
      this.#cancelRetry(entry);
      this.#finish(entry, 'delivered');
      return;
    }
    // An ended delivery that was sent again is not due.
    if (entry.state !== 'pending' || entry.signal.aborted || entry.retry !== undefined) return;
    // Full jitter: deliveries that failed together must not retry together.
    const longest = Math.min(
      assumed.longestRetryDelay,
      assumed.firstRetryDelay * 2 ** entry.failures++,
    );
    this.#startLater(entry, random.fraction('retry') * longest);
  }

  #cancelRetry(entry: Entry): void {
    clearTimeout(entry.retry?.timer);
    entry.retry = undefined;
  }

  async #sendFaulty(entry: Entry, { fault, payment, make }: FaultToSend): Promise<FaultOutcome> {
    const before = payment.status;
    try {
      const attempts = await this.#sendInOrder(entry, make);
      // The payment may have changed its status while a slow fault was sent.
      const verdict = judge(
        fault,
        [before, payment.status],
        attempts,
        this.#options.assumed.acknowledged,
      );
      entry.verdict = verdict;
      const { rows } = describeFault(fault);
      this.#finish(entry, 'sent');
      const expected = expectationOf(fault, before);
      return {
        fault,
        rows,
        expected,
        verdict,
        asExpected: verdict !== 'unexpected',
        delivery: this.#snapshot(entry),
      };
    } finally {
      this.#finish(entry, 'sent');
      this.#changed(entry);
    }
  }

  async #sendInOrder(
    entry: Entry,
    make: () => Promise<FaultyDelivery>,
  ): Promise<DeliveryAttempt[]> {
    const { target } = this.#options;
    const { notifications, order, wait, pace } = await make();
    const requests = notifications.map((notification) => toRequest(target, notification));
    const sendOne = async (request: SentRequest): Promise<DeliveryAttempt> => {
      const done = await this.#send(entry, request, {
        target,
        ...(pace === undefined ? {} : { pace }),
      });
      this.#changed(entry);
      return done;
    };
    if (wait !== undefined)
      await sleep(wait, undefined, { signal: entry.signal }).catch(() => undefined);
    if (order === 'at once') return Promise.all(requests.map(sendOne));
    const attempts: DeliveryAttempt[] = [];
    for (const request of requests) attempts.push(await sendOne(request));
    return attempts;
  }

  #finish(entry: Entry, state: 'delivered' | 'dropped' | 'sent'): void {
    entry.state = state;
    if (entry.isKept || this.#entries.get(entry.id) !== entry) return;
    entry.isKept = true;
    this.#finished.push(entry.id);
    if (this.#finished.length <= this.#options.assumed.deliveriesKept) return;
    const oldest = this.#finished.shift()!;
    this.#entries.delete(oldest);
    this.#options.store.remove(KIND, oldest);
  }

  #snapshot({
    id,
    reference,
    createdAt,
    state,
    fault,
    paymentStatus,
    verdict,
    started,
    attempts,
    retry,
  }: Entry): EmulatorDelivery {
    return {
      id,
      event: 'payment.succeeded',
      reference,
      url: this.#options.target.url.href,
      createdAt,
      state,
      ...(fault === undefined ? {} : { fault }),
      ...(paymentStatus === undefined ? {} : { paymentStatus }),
      ...(verdict === undefined ? {} : { verdict }),
      attemptCount: started,
      attempts: [...attempts],
      ...(retry === undefined ? {} : { nextAttemptAt: retry.at }),
    };
  }
}

function newLife(): AbortController {
  const life = new AbortController();
  // Each running request adds one listener.
  setMaxListeners(0, life.signal);
  return life;
}
