/**
 * Asks the service for payments. All questions of a client wait in one line. After a 429 the line
 * pauses for as long as the service says, and then goes on with half of the questions in flight.
 */
import type { WebhookError } from '@paylink/core';
import { confirmError, Limited, readPayment, retryAfterOf } from './answer.js';
import type { PaymentClient, ServicePayment, Source } from './contract.js';
import { fieldOfError } from './order.js';
import { Queue } from './order-lock.js';
import { now, startTimer, stopTimer, type Run } from './run.js';

/** Whose question goes next. A kind of which none waits is passed over. */
const ROUND: readonly Source[] = ['settle', 'webhook', 'settle', 'reconcile'];
/** Added to the questions in flight with each answer. Each 429 halves them, as TCP does (AIMD). */
const GROWTH = 0.1;
/** After this many refusals a question leaves the line: the limit may be its order's own. */
const MOST_REFUSALS = 2;
/** Milliseconds of a pause of which the service says nothing. Doubles with each refusal. */
const FIRST_PAUSE = 1_000;
const LONGEST_DOUBLED = 60_000;
const LONGEST_PAUSE = 3_600_000;
/** Milliseconds of random delay, so that processes refused together do not return together. */
const JITTER = 250;
/** Milliseconds for which an answer is reused, so that a page which polls floods no service. */
const REUSED_FOR = 2_000;
const LONGEST_REUSE = 30_000;
/** Answers in each of two maps. */
const MOST_ANSWERS = 5_000;

/** What the last question for an order brought. */
interface Answer {
  /** The values of `now()` when the first question for the order was sent, and the last one. */
  readonly firstAt: number;
  readonly at: number;
  readonly payment?: ServicePayment | undefined;
  readonly error?: WebhookError | undefined;
  /** The value of `now()` until which the service refuses this order alone. */
  readonly pauseEnd?: number | undefined;
}

interface Question {
  readonly run: Run;
  readonly go: () => void;
  readonly leave: (error: Limited) => void;
}

export class Asker {
  readonly #client: PaymentClient;
  readonly #mostInFlight: number;
  /** How many questions may be in flight. */
  #places: number;
  readonly #inFlight = new Set<Run>();
  readonly #line: Readonly<Record<Source, Queue<Question>>> = {
    settle: new Queue(),
    webhook: new Queue(),
    reconcile: new Queue(),
  };
  #round = 0;
  #pauseEnd = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Refusals without an answer between them. */
  #refusals = 0;
  /** The order that alone was refused since the last answer. */
  #refusedAlone: string | undefined;
  #answers = new Map<string, Answer>();
  /** Dropped as a whole, because a Map is slow after many single deletions. */
  #olderAnswers = this.#answers;

  constructor(client: PaymentClient, concurrency: number) {
    this.#client = client;
    this.#mostInFlight = this.#places = concurrency;
  }

  /** Milliseconds until the service's pause ends. */
  get pause(): number {
    return Math.max(0, this.#pauseEnd - now());
  }

  /**
   * Returns the service's payment. A webhook reuses only a success, or the answer to a question
   * that was sent after it came, because the customer may have paid at a second try since.
   *
   * @throws WebhookError `no_payment`, `confirm_unavailable` or `handler_timeout`
   */
  async ask(run: Run): Promise<ServicePayment> {
    const known = this.#answerOf(run);
    if (known !== undefined && isReusable(known, run)) {
      if (known.payment !== undefined) return known.payment;
      throw known.error!;
    }
    for (let refusals = 1; ; refusals++) {
      try {
        return await this.#send(run);
      } catch (error) {
        const isRefused = error instanceof Limited && error.isSent;
        const isLast = refusals === MOST_REFUSALS || this.#ownPauseOf(run) > 0;
        if (!isRefused || isLast) throw error;
      }
    }
  }

  /** Forgets the answers about an order that is paid: its row answers from then on. */
  forget({ key }: Pick<Run, 'key'>): void {
    this.#answers.delete(key);
    this.#olderAnswers.delete(key);
  }

  /** Asks when the line lets the question go. @throws WebhookError */
  async #send(run: Run): Promise<ServicePayment> {
    const isLate = now() + this.pause >= run.askBy;
    if (isLate || this.#ownPauseOf(run) > 0) throw new Limited(this.#pauseOf(run));
    const line = this.#line[run.source];
    let ticket = -1;
    const enter = () =>
      new Promise<void>((go, leave) => {
        ticket = line.push({ run, go, leave });
        this.#advance();
      });
    try {
      await run.queue('the line of questions', enter, run.askBy, () => new Limited(this.pause));
      return await this.#askClient(run);
    } finally {
      line.delete(ticket);
      this.#inFlight.delete(run);
      this.#advance();
    }
  }

  async #askClient(run: Run): Promise<ServicePayment> {
    const { reference, tenant, signal } = run;
    let at = now();
    let answer: unknown;
    try {
      const ask = () => {
        at = now();
        return this.#client.getPayment(reference, { signal, tenant });
      };
      answer = await run.wait('the service', ask, 'the service did not answer in time');
    } catch (cause) {
      throw run.error ?? this.#noteError(run, at, cause);
    }
    this.#noteAnswer();
    try {
      const payment = readPayment(answer, reference);
      this.#remember(run, at, { payment });
      return payment;
    } catch (error) {
      this.#remember(run, at, { error: error as WebhookError });
      throw error;
    }
  }

  #noteError(run: Run, at: number, cause: unknown): WebhookError {
    const status = fieldOfError(cause, 'status');
    if (status === 429) {
      this.#noteRefusal(run, at, retryAfterOf(cause));
      return new Limited(this.#pauseOf(run), cause);
    }
    if (status !== undefined) this.#noteAnswer();
    const error = confirmError(cause);
    this.#remember(run, at, { error });
    return error;
  }

  /** Lets as many questions go as have a place, or comes back after the pause. */
  #advance(): void {
    stopTimer(this.#timer);
    const { pause } = this;
    if (pause > 0) {
      this.#timer = startTimer(() => this.#advance(), Math.ceil(pause));
      // The callers' own timers keep the process alive.
      (this.#timer as Partial<NodeJS.Timeout>).unref?.();
      return;
    }
    while (this.#hasPlace()) {
      const question = this.#next();
      if (question === undefined) return;
      this.#inFlight.add(question.run);
      question.go();
    }
  }

  #hasPlace(): boolean {
    const places = Math.max(1, Math.floor(this.#places));
    if (this.#inFlight.size < places) return true;
    for (const run of this.#inFlight) if (run.isLost) this.#inFlight.delete(run);
    return this.#inFlight.size < places;
  }

  #next(): Question | undefined {
    let passed = 0;
    while (passed++ < ROUND.length) {
      const question = this.#line[ROUND[this.#round++ % ROUND.length]!].shift();
      if (question !== undefined) return question;
    }
    return undefined;
  }

  #noteAnswer(): void {
    this.#refusals = 0;
    this.#refusedAlone = undefined;
    this.#places = Math.min(this.#mostInFlight, this.#places + GROWTH);
  }

  /**
   * Slows the line down. A limit can be an order's own, so an order that was answered before first
   * pauses alone, until the service refuses another order too.
   */
  #noteRefusal(run: Run, sentAt: number, retryAfter: number | undefined): void {
    const known = this.#answerOf(run);
    const isAlone = (this.#refusedAlone ??= run.key) === run.key;
    // The same limit refuses all questions that are in flight.
    const isNew = sentAt >= this.#pauseEnd;
    if (isNew) this.#refusals++;
    // The service may say 0.
    const first = retryAfter === undefined ? FIRST_PAUSE : FIRST_PAUSE / 4;
    const doubled = Math.min(LONGEST_DOUBLED, first * 2 ** (this.#refusals - 1));
    const pause = Math.max(Math.min(retryAfter ?? 0, LONGEST_PAUSE), doubled);
    const pauseEnd = now() + pause + Math.random() * JITTER;
    if (isAlone && known?.payment !== undefined) {
      return this.#remember(run, known.at, { payment: known.payment, pauseEnd });
    }
    if (isNew) this.#places = Math.max(1, this.#places / 2);
    this.#pauseEnd = Math.max(this.#pauseEnd, pauseEnd);
    for (const line of Object.values(this.#line)) {
      for (const { run: waiting, leave } of line.values()) {
        if (this.#pauseEnd >= waiting.askBy) leave(new Limited(this.pause));
      }
    }
  }

  #pauseOf(run: Run): number {
    return Math.max(this.pause, this.#ownPauseOf(run));
  }

  #ownPauseOf(run: Run): number {
    return (this.#answerOf(run)?.pauseEnd ?? 0) - now();
  }

  #answerOf({ key }: Run): Answer | undefined {
    return this.#answers.get(key) ?? this.#olderAnswers.get(key);
  }

  #remember(run: Run, at: number, answer: Pick<Answer, 'payment' | 'error' | 'pauseEnd'>): void {
    const { firstAt = at } = this.#answerOf(run) ?? {};
    if (this.#answers.size >= MOST_ANSWERS) {
      this.#olderAnswers = this.#answers;
      this.#answers = new Map();
    }
    this.#answers.set(run.key, { firstAt, at, ...answer });
  }
}

function isReusable({ firstAt, at, payment, error }: Answer, run: Run): boolean {
  const isAnswer = payment !== undefined || error?.code === 'no_payment';
  if (!isAnswer && (error === undefined || run.source === 'webhook')) return false;
  const isForAll = run.source !== 'webhook' || payment?.status === 'success';
  const grown = isAnswer ? Math.min(LONGEST_REUSE, (now() - firstAt) / 4) : 0;
  return (isForAll || at > run.start) && now() - at < Math.max(REUSED_FOR, grown);
}
