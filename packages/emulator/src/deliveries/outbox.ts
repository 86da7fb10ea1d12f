import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Assumed } from '../assumed.js';
import { attempt, toRequest, type DeliveryAttempt, type SentRequest, type Target } from './attempt.js';
import type { EmulatorDelivery, FaultOutcome } from './delivery.js';
import { Disturbances, type Disturbance, type Disturbed } from './disturbances.js';
import { describeFault, isExpected, type Fault } from '../faults/faults.js';
import type { FaultyDelivery } from '../faults/faulty-notifications.js';
import { Lanes } from './lanes.js';
import { signNotification } from './notification.js';
import { report } from '../report.js';
import type { Pace } from './send.js';
import { quote } from '../visible-text.js';

interface Entry {
  readonly id: string;
  readonly reference: string;
  /** What is sent again and again; a fault has its own for each attempt. */
  readonly request: Promise<SentRequest> | undefined;
  readonly createdAt: Date;
  readonly attempts: DeliveryAttempt[];
  fault?: EmulatorDelivery['fault'];
  state: EmulatorDelivery['state'];
  started: number;
  failures: number;
  retry?: { readonly timer: NodeJS.Timeout; readonly at: Date } | undefined;
  isKept: boolean;
}

export interface OutboxOptions {
  readonly target: Target;
  readonly secret: string;
  readonly assumed: Assumed;
  /** Called after every change. */
  readonly onChange: () => void;
}

// Attempts that are kept of all deliveries together: at some kilobytes each, what a laptop does not notice.
const ATTEMPTS_IN_ALL = 20_000;

/** Sends notifications, and goes on with each until it is acknowledged. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #lanes: Lanes;
  readonly #disturbances = new Disturbances();
  readonly #closing = new AbortController();
  /** Ids of what is not owed any more, in the order of its end, to forget the oldest. */
  readonly #finished: string[] = [];
  /** Kept back until the next one is out. */
  #held: Entry | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.assumed.deliveriesAtOnce);
    // One listener for each request that is under way.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Starts a delivery at once, unless it is disturbed, and does not wait for it. */
  post(reference: string, body: Readonly<Record<string, unknown>>): void {
    if (this.#isClosed) return;
    const entry = this.#add(reference, this.#prepare(JSON.stringify(body)));
    const disturbed = this.#disturbances.take(reference);
    if (disturbed === undefined) this.#startAndRelease(entry);
    else this.#disturb(entry, disturbed);
    this.#options.onChange();
  }

  /** @throws ConfigurationError that names the option. */
  disturb(disturbance: Disturbance): () => void {
    return this.#disturbances.add(disturbance);
  }

  /** Sends a delivery again, whatever became of it, and gives that attempt. @throws Error for an unknown id. */
  async resend(id: string): Promise<DeliveryAttempt> {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`there is no delivery ${quote(id)}`);
    if (entry.request === undefined) throw new Error('this delivery has a fault: sendFault sends another one');
    if (this.#isClosed) throw new Error('the emulator is closed');
    return this.#attempt(entry);
  }

  /** Starts to send what a fault has made. Gives the delivery's id, and what came of it in the end. */
  sendFault(
    reference: string,
    fault: Fault,
    make: () => Promise<FaultyDelivery>,
  ): { readonly id: string; readonly outcome: Promise<FaultOutcome> } {
    if (this.#isClosed) throw new Error('the emulator is closed');
    const entry = this.#add(reference, undefined);
    entry.fault = fault;
    this.#options.onChange();
    return { id: entry.id, outcome: this.#sendFaulty(entry, fault, make) };
  }

  /** Every delivery, oldest first. */
  list(): EmulatorDelivery[] {
    return Array.from(this.#entries.values(), (entry) => this.#snapshot(entry));
  }

  find(id: string): EmulatorDelivery | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : this.#snapshot(entry);
  }

  /** The newest deliveries whose reference fits, newest first. */
  newest(count: number, fits: (reference: string) => boolean): EmulatorDelivery[] {
    const entries = Array.from(this.#entries.values()).filter(({ reference }) => fits(reference));
    return entries
      .slice(-count)
      .reverse()
      .map((entry) => this.#snapshot(entry));
  }

  /** How many deliveries are still owed. */
  countPending(): number {
    let count = 0;
    for (const { state } of this.#entries.values()) if (state === 'pending') count++;
    return count;
  }

  /** Stops every timer and breaks off what is under way. */
  close(): void {
    for (const { retry } of this.#entries.values()) clearTimeout(retry?.timer);
    this.#closing.abort(new Error('the emulator was closed'));
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #add(reference: string, request: Promise<SentRequest> | undefined): Entry {
    const entry: Entry = {
      id: randomUUID(),
      reference,
      request,
      createdAt: new Date(),
      attempts: [],
      state: 'pending',
      started: 0,
      failures: 0,
      isKept: false,
    };
    // Whoever sends it hears of a body that cannot be made; where nobody does, it must not end the process.
    request?.catch(() => undefined);
    this.#entries.set(entry.id, entry);
    return entry;
  }

  async #prepare(body: string): Promise<SentRequest> {
    const { target, secret, assumed } = this.#options;
    const parts = { body: Buffer.from(body), event: 'payment.succeeded', contentType: assumed.notificationContentType, secret };
    return toRequest(target, await signNotification(parts));
  }

  #disturb(entry: Entry, { kind, delay }: Disturbed): void {
    // What is kept back lets the next one overtake it: two that wait for each other would both be lost.
    if (kind === 'reorder' && this.#held !== undefined) {
      this.#startAndRelease(entry);
      return;
    }
    entry.fault = kind;
    if (kind === 'drop') this.#finish(entry, 'dropped');
    else if (kind === 'delay') this.#startLater(entry, delay);
    else this.#held = entry;
  }

  /** Sends, and once that was answered what was kept back for it. */
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
        // Acknowledged by hand while it waited, or closed.
        if (entry.state === 'pending' && !this.#isClosed) await this.#attempt(entry);
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

  async #attempt(entry: Entry): Promise<DeliveryAttempt> {
    clearTimeout(entry.retry?.timer);
    entry.retry = undefined;
    const done = await this.#send(entry, await entry.request!);
    this.#conclude(entry, done);
    this.#options.onChange();
    return done;
  }

  async #send(entry: Entry, request: SentRequest, pace?: Pace): Promise<DeliveryAttempt> {
    const { target, assumed } = this.#options;
    const pauses = pace?.kind === 'slow' ? pace.interval * request.rawBody.byteLength : 0;
    const done = await attempt(target, request, {
      number: ++entry.started,
      pace,
      timeout: assumed.deliveryTimeout + pauses,
      signal: this.#closing.signal,
    });
    entry.attempts.push(done);
    const most = Math.max(1, Math.min(assumed.attemptsKept, Math.floor(ATTEMPTS_IN_ALL / this.#entries.size)));
    if (entry.attempts.length > most) entry.attempts.splice(0, entry.attempts.length - most);
    return done;
  }

  #conclude(entry: Entry, { response }: DeliveryAttempt): void {
    const { assumed } = this.#options;
    if (response !== undefined && assumed.acknowledged(response.status)) {
      clearTimeout(entry.retry?.timer);
      entry.retry = undefined;
      this.#finish(entry, 'delivered');
      return;
    }
    // Sent by hand after its end: nothing is owed.
    if (entry.state !== 'pending' || this.#isClosed || entry.retry !== undefined) return;
    // Full jitter: deliveries that failed together must not come back together.
    this.#startLater(entry, Math.random() * Math.min(assumed.longestRetryDelay, assumed.firstRetryDelay * 2 ** entry.failures++));
  }

  async #sendFaulty(entry: Entry, fault: Fault, make: () => Promise<FaultyDelivery>): Promise<FaultOutcome> {
    const attempts = await this.#sendInOrder(entry, make).finally(() => {
      this.#finish(entry, 'sent');
      this.#options.onChange();
    });
    const { rows, expected } = describeFault(fault);
    return {
      fault,
      rows,
      expected,
      asExpected: attempts.every((done) => isExpected(fault, done)),
      delivery: this.#snapshot(entry),
    };
  }

  async #sendInOrder(entry: Entry, make: () => Promise<FaultyDelivery>): Promise<DeliveryAttempt[]> {
    const { notifications, order, wait, pace } = await make();
    const requests = notifications.map((notification) => toRequest(this.#options.target, notification));
    const sendOne = async (request: SentRequest): Promise<DeliveryAttempt> => {
      const done = await this.#send(entry, request, pace);
      this.#options.onChange();
      return done;
    };
    if (wait !== undefined) await sleep(wait, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    if (order === 'at once') return Promise.all(requests.map(sendOne));
    const attempts: DeliveryAttempt[] = [];
    for (const request of requests) attempts.push(await sendOne(request));
    return attempts;
  }

  #finish(entry: Entry, state: 'delivered' | 'dropped' | 'sent'): void {
    entry.state = state;
    if (entry.isKept) return;
    entry.isKept = true;
    this.#finished.push(entry.id);
    if (this.#finished.length > this.#options.assumed.deliveriesKept) this.#entries.delete(this.#finished.shift()!);
  }

  #snapshot({ id, reference, createdAt, state, fault, started, attempts, retry }: Entry): EmulatorDelivery {
    return {
      id,
      event: 'payment.succeeded',
      reference,
      url: this.#options.target.url.href,
      createdAt,
      state,
      ...(fault === undefined ? {} : { fault }),
      attemptCount: started,
      attempts: [...attempts],
      ...(retry === undefined ? {} : { nextAttemptAt: retry.at }),
    };
  }
}
