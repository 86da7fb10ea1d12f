import { randomUUID } from 'node:crypto';
import { sign } from '@paylink/core';
import type { Assumed } from './assumed.js';
import { send, type Answer } from './send.js';

/** One POST to the webhook URL. */
export interface DeliveryAttempt {
  /** Counts from 1, also past what is kept. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly request: {
    readonly method: 'POST';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly response?: Answer;
  /** Why there was no response. */
  readonly error?: string;
}

/** One notification and every attempt to get it across. */
export interface EmulatorDelivery {
  readonly id: string;
  readonly event: 'payment.succeeded';
  readonly reference: string;
  readonly url: string;
  readonly createdAt: Date;
  /** `pending` until the receiver acknowledges it; it is never given up while the emulator runs. */
  readonly state: 'pending' | 'delivered';
  /** How often it was sent. */
  readonly attemptCount: number;
  /** The newest attempts, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt?: Date;
}

interface Entry {
  readonly id: string;
  readonly reference: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly attempts: DeliveryAttempt[];
  state: EmulatorDelivery['state'];
  started: number;
  failures: number;
  retry?: { readonly timer: NodeJS.Timeout; readonly at: Date } | undefined;
}

export interface OutboxOptions {
  readonly url: URL;
  readonly secret: string;
  readonly assumed: Assumed;
}

/** Sends notifications, and goes on with each until it is acknowledged. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Set<AbortController>();
  /** Ids in the order of their acknowledgement, to forget the oldest. */
  readonly #delivered: string[] = [];
  #closed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Starts a delivery at once, and does not wait for it. */
  post(reference: string, body: Readonly<Record<string, unknown>>): void {
    if (this.#closed) return;
    const entry: Entry = {
      id: randomUUID(),
      reference,
      body: JSON.stringify(body),
      createdAt: new Date(),
      attempts: [],
      state: 'pending',
      started: 0,
      failures: 0,
    };
    this.#entries.set(entry.id, entry);
    this.#attempt(entry).catch(report);
  }

  /** Sends a delivery again, whatever became of it, and gives that attempt. @throws Error for an unknown id. */
  async resend(id: string): Promise<DeliveryAttempt> {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`there is no delivery ${id}`);
    if (this.#closed) throw new Error('the emulator is closed');
    return this.#attempt(entry);
  }

  list(): EmulatorDelivery[] {
    return [...this.#entries.values()].map((entry) => this.#snapshot(entry));
  }

  /** Stops every timer and breaks off what is under way. */
  close(): void {
    this.#closed = true;
    for (const { retry } of this.#entries.values()) clearTimeout(retry?.timer);
    for (const controller of this.#underWay) controller.abort(new Error('the emulator was closed'));
  }

  async #attempt(entry: Entry): Promise<DeliveryAttempt> {
    clearTimeout(entry.retry?.timer);
    entry.retry = undefined;
    const attempt = await this.#send(entry, ++entry.started);
    entry.attempts.push(attempt);
    if (entry.attempts.length > this.#options.assumed.attemptsKept) entry.attempts.shift();
    this.#conclude(entry, attempt);
    return attempt;
  }

  async #send(entry: Entry, number: number): Promise<DeliveryAttempt> {
    const { url, secret, assumed } = this.#options;
    const controller = new AbortController();
    this.#underWay.add(controller);
    const startedAt = new Date();
    const started = performance.now();
    const bytes = Buffer.from(entry.body);
    const headers = {
      'Content-Type': assumed.notificationContentType,
      'X-Service-Event': 'payment.succeeded',
      'X-Service-Signature': await sign(bytes, secret),
    };
    let outcome: { response: Answer } | { error: string };
    try {
      const timeout = assumed.deliveryTimeout;
      outcome = { response: await send({ url, headers, body: bytes, timeout, signal: controller.signal }) };
    } catch (error) {
      outcome = { error: describe(error) };
    } finally {
      this.#underWay.delete(controller);
    }
    const request = { method: 'POST', url: url.href, headers, body: entry.body } as const;
    return { number, startedAt, durationMs: performance.now() - started, request, ...outcome };
  }

  #conclude(entry: Entry, { response }: DeliveryAttempt): void {
    const { assumed } = this.#options;
    if (response !== undefined && assumed.acknowledged(response.status)) {
      clearTimeout(entry.retry?.timer);
      entry.retry = undefined;
      this.#markDelivered(entry);
      return;
    }
    // Sent by hand after it was acknowledged: the receiver has it, so nothing is owed.
    if (entry.state === 'delivered' || this.#closed || entry.retry !== undefined) return;
    // Full jitter: deliveries that failed together must not come back together.
    const delay = Math.random() * Math.min(assumed.longestRetryDelay, assumed.firstRetryDelay * 2 ** entry.failures++);
    const timer = setTimeout(() => {
      this.#attempt(entry).catch(report);
    }, delay);
    entry.retry = { timer, at: new Date(Date.now() + delay) };
  }

  #markDelivered(entry: Entry): void {
    if (entry.state === 'delivered') return;
    entry.state = 'delivered';
    this.#delivered.push(entry.id);
    if (this.#delivered.length > this.#options.assumed.deliveriesKept) this.#entries.delete(this.#delivered.shift()!);
  }

  #snapshot({ id, reference, createdAt, state, started, attempts, retry }: Entry): EmulatorDelivery {
    return {
      id,
      event: 'payment.succeeded',
      reference,
      url: this.#options.url.href,
      createdAt,
      state,
      attemptCount: started,
      attempts: [...attempts],
      ...(retry === undefined ? {} : { nextAttemptAt: retry.at }),
    };
  }
}

/** What a function given under `assumed` threw: it belongs to nobody who waits. */
function report(error: unknown): void {
  console.error('[paylink emulator]', error);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, code } = error as Error & { code?: string };
  if (error.name === 'AbortError' && cause instanceof Error) return cause.message;
  // Where a name has two addresses and neither answers, Node's error has no message of its own.
  return error.message === '' ? (code ?? error.name) : error.message;
}
