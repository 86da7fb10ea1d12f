/**
 * Asks the service for payments. All questions of one client wait in one line, whether the return
 * page, a webhook or the schedule asks.
 */
import { WebhookError } from '@paylink/core';
import { withinBounds } from '@paylink/core/internal';
import type { PaymentClient, ServicePayment, Source } from './contract.js';
import { field, fieldOfError } from './order.js';

// Constants, because fake timers replace the globals, and a pause would never end.
export const now = performance.now.bind(performance);
export const startTimer = setTimeout;
const stopTimer = clearTimeout;

/** Milliseconds for which the page and the schedule reuse an answer. */
const REUSED_FOR = 2_000;
/** Answers in each of the two maps that keep them. */
const MOST_ANSWERS = 5_000;
/** Questions that hold a place. After `PROMPT` milliseconds each gives its place back. */
const MOST_IN_FLIGHT = 8;
const LEAST_IN_FLIGHT = 2;
const PROMPT = 2_000;
const MOST_WITHOUT_ANSWER = 64;
/** Milliseconds after its time limit at which a question is dropped: its request has died. */
const DEAD_AFTER = 1_000;
/** Milliseconds to pause after a 429 without `retryAfter`. Doubles with each refusal. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;
/** The least pause after a 429, which doubles too, because the service may say 0. */
const SHORTEST_PAUSE = 250;
const LONGEST_RETRY_AFTER = 3_600_000;
/** Refusals after which a question leaves the line, because the limit may be its order's own. */
const MOST_REFUSALS = 2;
/** Milliseconds of random delay, so that processes refused together do not return together. */
const JITTER = 250;
/** Factors of the interval after an answer, because the first rate is a guess, and after a 429. */
const FASTER = 0.99;
const SLOWER = 1.1;
/** Milliseconds: a long pause says nothing about the rate. */
const LONGEST_INTERVAL = 2_000;
/** Milliseconds after which the line tries whether the service allows a higher rate. */
const RATE_KEPT_FOR = 60_000;
/** Milliseconds without a question after which the answers before say nothing about the rate. */
const IDLE = 1_000;
/** Milliseconds for which the schedule waits after its end for an answer. */
const LAST_ANSWER = 1_000;

/** The return page goes first, because a customer is waiting. */
const LINE: readonly Source[] = ['settle', 'webhook', 'reconcile'];
/** Of so many questions, one is of each place at least. */
const SHARES = [1, 3, 9];

/** Who asks for which payment. */
export interface Asked {
  readonly reference: string;
  readonly tenant: string | null;
  readonly source: Source;
  /** The value of `now()` when the caller came. */
  start: number;
  /** The value of `now()` after which no question is sent. A page and a webhook then give up. */
  readonly end: number;
  /** The place in the line of the most urgent caller that waits for this answer. */
  place: number;
}

export function placeOf(source: Source): number {
  return LINE.indexOf(source);
}

/** Thrown if the question was not sent, because its turn would come too late for the caller. */
export class NotAsked extends WebhookError {
  /** True if the question was sent, and the service refused it. */
  readonly isRefused: boolean;

  constructor(message: string, retryAfter: number, isRefused: boolean) {
    super('confirm_unavailable', { message, retryAfter });
    this.isRefused = isRefused;
  }
}

interface Question {
  readonly key: string;
  readonly asked: Asked;
  place: number;
  end: number;
  isSent: boolean;
  sentAt: number;
  refusals: number;
  /** Resolves when the question may be sent. */
  turn: ReturnType<typeof withResolvers<void>>;
  readonly answer: Promise<ServicePayment>;
  readonly resolve: (payment: ServicePayment) => void;
  readonly reject: (error: WebhookError) => void;
}

interface Answer {
  readonly answer: Promise<ServicePayment>;
  readonly isSuccess: boolean;
  readonly sentAt: number;
  readonly expiry: number;
}

export class Asker {
  readonly #client: PaymentClient;
  readonly #timeout: number;
  readonly #warn: (message: string) => void;
  #answers = new Map<string, Answer>();
  /** The map before, dropped as a whole: a Map is slow after many single deletions. */
  #olderAnswers = new Map<string, Answer>();
  #answersEnd = 0;
  readonly #open = new Map<string, Question>();
  /** The waiting questions, by place. */
  readonly #line: readonly Question[][] = LINE.map(() => []);
  /** The questions without an answer, the oldest first. */
  readonly #sent = new Set<Question>();
  /** The questions sent, of which some are of a lower place. */
  #turn = 0;
  #most = MOST_IN_FLIGHT;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The value of `now()` at which the pause ends. */
  #pauseEnd = 0;
  #refusals = 0;
  /** Milliseconds between two questions. 0 until the service has shown a rate. */
  #interval = 0;
  #intervalExpiry = 0;
  /** The interval below which the service has refused a question. */
  #leastInterval = 0;
  #lastSent = -Infinity;
  /** The answers since `#countedFrom`, from which the rate is known after a 429. */
  #answered = 0;
  #countedFrom = 0;

  constructor(client: PaymentClient, timeout: number, warn: (message: string) => void) {
    this.#client = client;
    this.#timeout = timeout;
    this.#warn = warn;
  }

  /** Milliseconds until the next question may be sent. */
  get pause(): number {
    return Math.max(0, this.#pauseEnd - now());
  }

  /**
   * Returns the service's payment. A webhook reuses only a success, or the answer to a question
   * that was sent after it came, because the customer may have paid at a second try since.
   *
   * @throws WebhookError `no_payment`, `confirm_unavailable` or `handler_timeout`
   */
  async ask(asked: Asked): Promise<ServicePayment> {
    const key = keyOf(asked);
    const isWebhook = asked.source === 'webhook';
    for (;;) {
      const known = this.#answers.get(key) ?? this.#olderAnswers.get(key);
      const isFresh = known !== undefined && known.expiry > now();
      if (isFresh && (known.isSuccess || !isWebhook || known.sentAt >= asked.start)) {
        return known.answer;
      }
      const open = this.#open.get(key);
      const question = open ?? this.#createQuestion(key, asked);
      this.#hurry(question, asked);
      if (open === undefined) {
        this.#open.set(key, question);
        this.#line[question.place]!.push(question);
        void this.#askInTurn(question);
        this.#send();
      }
      const isBackground = asked.source === 'reconcile';
      const grace = isBackground ? LAST_ANSWER : 0;
      const waiting = withinBounds(question.answer, {
        milliseconds: Math.max(1, asked.end + grace - now()),
        reason: () => (question.isSent ? late() : this.#notAsked(question, this.#waitOf(question))),
        isBackground,
      });
      if (open === undefined || !isWebhook) return waiting;
      const payment = await waiting.catch(() => undefined);
      if (payment?.status === 'success') return payment;
      if (now() + 1 >= asked.end) throw late();
    }
  }

  /**
   * Moves an open question of the same order up to this caller's place in the line.
   *
   * @throws NotAsked
   */
  hurry(asked: Asked): void {
    const question = this.#open.get(keyOf(asked));
    if (question !== undefined) this.#hurry(question, asked);
  }

  #hurry(question: Question, { place, end }: Asked): void {
    question.end = Math.max(question.end, end);
    if (place < question.place) {
      const line = this.#line[question.place]!;
      const index = line.indexOf(question);
      if (index >= 0) this.#line[place]!.push(...line.splice(index, 1));
      question.place = place;
    }
    const wait = question.isSent ? 0 : this.#waitOf(question);
    if (wait > 0 && now() + wait >= end) throw this.#notAsked(question, wait);
  }

  #createQuestion(key: string, asked: Asked): Question {
    const { promise: answer, resolve, reject } = withResolvers<ServicePayment>();
    // Every caller may have given up.
    answer.catch(() => undefined);
    const { place, end } = asked;
    const state = { place, end, isSent: false, sentAt: 0, refusals: 0 };
    return { key, asked, ...state, turn: withResolvers(), answer, resolve, reject };
  }

  /** Returns the milliseconds until the turn of a question, as far as the line knows. */
  #waitOf({ place }: Question): number {
    const ahead = this.#aheadOf(place, this.#line[place]!.length);
    return Math.max(0, this.#nextAt() - now()) + ahead * this.#interval;
  }

  /** Returns about how many questions are sent before one with `before` others at its place. */
  #aheadOf(place: number, before: number): number {
    const higher = this.#line.slice(0, place).reduce((sum, { length }) => sum + length, 0);
    return Math.min(higher + before, SHARES[place]! * (before + 1));
  }

  #nextAt(): number {
    if (this.#interval > 0 && now() >= this.#intervalExpiry) {
      this.#interval = 0;
      this.#leastInterval = 0;
      this.#most = LEAST_IN_FLIGHT;
      this.#countFrom(now());
    }
    const paced = this.#interval === 0 ? 0 : this.#lastSent + this.#interval;
    return Math.max(this.#pauseEnd, paced);
  }

  #countFrom(start: number): void {
    this.#countedFrom = start;
    this.#answered = 0;
  }

  /** Milliseconds until a place is free, unless an answer frees one before. */
  #placeWait(): number {
    const time = now();
    for (const question of this.#sent) {
      // A Worker ends the work of a request without a word.
      if (time - question.sentAt < this.#timeout + DEAD_AFTER) break;
      this.#sent.delete(question);
      this.#finish(question, () => question.reject(late()));
    }
    if (this.#sent.size >= MOST_WITHOUT_ANSWER) return PROMPT;
    const prompt = Array.from(this.#sent).filter(({ sentAt }) => time - sentAt < PROMPT);
    return prompt.length < this.#most ? 0 : prompt[0]!.sentAt + PROMPT - time;
  }

  /** Lets as many questions go as may be sent now, and comes back for the next one. */
  #send(): void {
    stopTimer(this.#timer);
    for (;;) {
      const lines = this.#line.filter(({ length }) => length > 0);
      const lower = SHARES.findLastIndex((share) => (this.#turn + 1) % share === 0);
      const line = lines[Math.min(lower, lines.length - 1)];
      if (line === undefined) return;
      const wait = Math.max(this.#nextAt() - now(), this.#placeWait());
      if (wait > 0) {
        this.#timer = startTimer(() => this.#send(), Math.ceil(wait));
        // The callers' own timers keep the process alive.
        (this.#timer as Partial<NodeJS.Timeout>).unref?.();
        return;
      }
      const question = line.shift()!;
      if (question.end <= now()) {
        this.#finish(question, () => question.reject(this.#notAsked(question, 0)));
        continue;
      }
      this.#turn++;
      if (this.#sent.size === 0 && now() - this.#lastSent > IDLE) this.#countFrom(now());
      this.#lastSent = question.sentAt = now();
      question.isSent = true;
      this.#sent.add(question);
      question.turn.resolve();
    }
  }

  /** Asks in the request of the caller, because a Worker ends the work of every other request. */
  async #askInTurn(question: Question): Promise<void> {
    do {
      await question.turn.promise;
      await this.#put(question);
      this.#sent.delete(question);
      this.#send();
    } while (this.#open.get(question.key) === question);
  }

  async #put(question: Question): Promise<void> {
    const { reference, tenant } = question.asked;
    const controller = new AbortController();
    const asking = (async () =>
      this.#client.getPayment(reference, {
        signal: controller.signal,
        tenant,
        retryLimited: false,
      }))();
    const reason = (): WebhookError => {
      controller.abort(late());
      return controller.signal.reason as WebhookError;
    };
    try {
      const answer = await withinBounds(asking, { milliseconds: this.#timeout, reason });
      this.#noteAnswer();
      const payment = readPayment(answer);
      const isPayment = typeof answer === 'object' && answer !== null;
      const fault = faultOf(payment, reference);
      if (fault === undefined) {
        this.#finish(question, () => question.resolve(payment), payment.status === 'success');
      } else {
        const message = isPayment
          ? `the service's payment ${fault}`
          : 'getPayment() of the client gave no object: look for a missing `return`';
        const error = new WebhookError('confirm_unavailable', { message });
        this.#finish(question, () => question.reject(error));
      }
    } catch (error) {
      const status = fieldOfError(error, 'status');
      if (status === 429) this.#refuse(question, error);
      else {
        if (status !== undefined) this.#noteAnswer();
        const isLate = controller.signal.aborted;
        this.#finish(question, () => question.reject(isLate ? late() : unconfirmed(error)));
      }
    }
  }

  #noteAnswer(): void {
    this.#refusals = 0;
    this.#answered++;
    this.#interval = Math.max(this.#leastInterval, this.#interval * FASTER);
    this.#most = Math.min(MOST_IN_FLIGHT, this.#most + 1);
  }

  #finish(question: Question, end: () => void, isSuccess = false): void {
    const { key, isSent, sentAt, answer } = question;
    if (this.#open.get(key) === question) this.#open.delete(key);
    end();
    if (!isSent) return;
    const time = now();
    if (time >= this.#answersEnd || this.#answers.size >= MOST_ANSWERS) {
      this.#olderAnswers = this.#answers;
      this.#answers = new Map();
      this.#answersEnd = time + REUSED_FOR;
    }
    this.#answers.set(key, { answer, isSuccess, sentAt, expiry: time + REUSED_FOR });
  }

  /** Pauses the line after a 429, and keeps in it the questions that can wait. */
  #refuse(question: Question, error: unknown): void {
    const isNew = now() >= this.#pauseEnd;
    const doubled = (first: number) => Math.min(LONGEST_PAUSE, first * 2 ** this.#refusals);
    const said = retryAfterOf(error) ?? doubled(FIRST_PAUSE);
    if (said > LONGEST_RETRY_AFTER) {
      this.#warn('the service asked for a pause of more than an hour: Paylink waits for one hour');
    }
    const least = Math.max(doubled(SHORTEST_PAUSE), Math.min(said, LONGEST_RETRY_AFTER));
    const pause = least + Math.random() * JITTER;
    this.#pauseEnd = Math.max(this.#pauseEnd, now() + pause);
    this.#most = LEAST_IN_FLIGHT;
    // The other questions in flight are refused by the same limit.
    if (isNew) {
      this.#refusals++;
      if (this.#interval > 0) {
        this.#interval = Math.min(LONGEST_INTERVAL, this.#interval * SLOWER);
        this.#leastInterval = this.#interval;
      } else if (this.#answered > 0) {
        const shown = (this.#pauseEnd - this.#countedFrom) / this.#answered;
        this.#interval = Math.min(LONGEST_INTERVAL, shown);
      }
      this.#intervalExpiry = this.#pauseEnd + RATE_KEPT_FOR;
    }
    this.#countFrom(this.#pauseEnd);
    question.isSent = false;
    question.turn = withResolvers();
    if (++question.refusals < MOST_REFUSALS) this.#line[question.place]!.push(question);
    else this.#finish(question, () => question.reject(this.#notAsked(question, this.pause)));
    this.#turnAway();
  }

  /** Ends the questions whose callers cannot wait for their turns. */
  #turnAway(): void {
    for (const [place, line] of this.#line.entries()) {
      for (const question of line.splice(0)) {
        const turn = this.#nextAt() + this.#aheadOf(place, line.length) * this.#interval;
        if (turn < question.end) line.push(question);
        else this.#finish(question, () => question.reject(this.#notAsked(question, turn - now())));
      }
    }
  }

  #notAsked({ refusals }: Question, retryAfter: number): NotAsked {
    const isLimited = refusals > 0 || this.pause > 0 || this.#interval > 0;
    const message = isLimited
      ? 'the service limits its questions, and this one has to come back later'
      : 'questions that the service does not answer hold every place';
    return new NotAsked(message, retryAfter, refusals > 0);
  }
}

/** Names an order in a map. No two orders have one name, whatever their tenants. */
export function keyOf({ tenant, reference }: Pick<Asked, 'tenant' | 'reference'>): string {
  return tenant === null ? `-${reference}` : `${tenant.length}:${tenant}${reference}`;
}

/** Returns true if the service refused the client's key, as it would for every other order. */
export function isKeyRefused(error: WebhookError | undefined): boolean {
  // `find` and `credit` may ask other services, whose refusals are orders_unavailable.
  return error?.code === 'confirm_unavailable' && fieldOfError(error.cause, 'status') === 401;
}

/** Copies the answer, because the page gets it too, and may change what it gets. */
function readPayment(answer: unknown): ServicePayment {
  const names = ['reference', 'status', 'amount', 'currency', 'type'];
  const [reference, status, amount, currency, type] = names.map((name) => field(answer, name));
  const copy = { ...(answer as object), reference, status, amount, currency };
  return Object.freeze(type === undefined ? copy : { ...copy, type }) as ServicePayment;
}

/** Returns why the client's answer confirms nothing, or undefined. */
function faultOf(payment: ServicePayment, reference: string): string | undefined {
  const { status, amount, currency } = payment;
  if (payment.reference !== reference) return 'has another reference';
  // The contract shows no other kinds of records. The success of a refund credits nothing.
  if ((field(payment, 'type') ?? 'payment') !== 'payment') return 'has another `type` than payment';
  if (!['pending', 'success', 'failed', 'cancelled'].includes(status)) {
    return 'has a status that is not in the contract';
  }
  if (status !== 'success') return undefined;
  if (!Number.isSafeInteger(amount) || amount! <= 0) {
    return 'has an `amount` that is not a positive whole number';
  }
  return typeof currency === 'string' && currency !== '' ? undefined : 'has no `currency`';
}

function unconfirmed(cause: unknown): WebhookError {
  const status = fieldOfError(cause, 'status');
  if (status === 404) {
    const message = 'the service has no payment of this reference, so its link was never created';
    return new WebhookError('no_payment', { message, cause });
  }
  const message =
    status === 401
      ? 'the service refused the API key (401): check the key and its environment'
      : 'the client could not read the payment';
  const retryAfter = retryAfterOf(cause);
  return new WebhookError('confirm_unavailable', { message, cause, retryAfter });
}

function late(): WebhookError {
  return new WebhookError('handler_timeout', { message: 'the service did not answer in time' });
}

function retryAfterOf(error: unknown): number | undefined {
  const delay = fieldOfError(error, 'retryAfter');
  return Number.isFinite(delay) && (delay as number) >= 0 ? (delay as number) : undefined;
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
