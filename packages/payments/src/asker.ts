/**
 * Asks the service for payments. All questions of a client wait in one line. After a 429 the line
 * pauses for as long as the service says, and then goes on with half of the questions in flight.
 */
import { Limited, readAnswer, readClientError, retryAfterOf } from './answer.js';
import type { QuestionResult } from './answer.js';
import type { PaymentClient, ServicePayment, Source } from './contract.js';
import { fieldOfError } from './order.js';
import { Queue } from './order-lock.js';
import { now, startTimer, stopTimer, unref, type Run } from './run.js';

/** The kind of the next question, in turn. Skips a kind that has none waiting. */
const ROUND: readonly Source[] = ['settle', 'webhook', 'settle', 'reconcile'];
/** Added to the questions in flight with each answer. Each 429 halves them, as TCP does (AIMD). */
const GROWTH = 0.1;
/** Milliseconds of a pause if the service names none. Doubles with each refusal. */
const FIRST_PAUSE = 1_000;
const LONGEST_DOUBLED = 60_000;
const LONGEST_PAUSE = 3_600_000;
/** Milliseconds of random delay, so that processes refused together do not return together. */
const JITTER = 250;
/** The shortest reuse of an answer in milliseconds: a polling page must not flood the service. */
const REUSED_FOR = 2_000;
const LONGEST_REUSE = 30_000;
const MOST_ANSWERS = 10_000;

/** The result of the last question about an order. */
interface Answer extends QuestionResult {
  /** The values of `now()` when the first question for the order was sent, and the last one. */
  readonly firstAt: number;
  readonly at: number;
  /** The value of `now()` until which the service refuses this order alone. */
  readonly pauseEnd?: number | undefined;
}

export class Asker {
  readonly #client: PaymentClient;
  readonly #mostInFlight: number;
  /** The number of questions that may be in flight. */
  #places: number;
  readonly #inFlight = new Set<Run>();
  readonly #line: Readonly<Record<Source, Queue<Run, () => void>>> = {
    settle: new Queue(),
    webhook: new Queue(),
    reconcile: new Queue(),
  };
  #turn = 0;
  #pauseEnd = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Refusals without an answer between them. */
  #refusals = 0;
  /** The only order that was refused since the last answer. */
  #refusedAlone: string | undefined;
  readonly #answers = new Queue<string, Answer>();

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
    const known = this.#answers.get(run.key);
    if (known !== undefined && isReusable(known, run)) return paymentOf(known);
    try {
      return await this.#send(run);
    } catch (error) {
      const isRefused = error instanceof Limited && error.isSent;
      if (!isRefused || this.#ownPauseOf(run) > 0) throw error;
      // Once more alone: the limit may be the order's own.
      return this.#send(run);
    }
  }

  /** Forgets the answer about an order. The row of a paid order answers from then on. */
  forget({ key }: Pick<Run, 'key'>): void {
    this.#answers.delete(key);
  }

  /** Asks when the question's turn comes. @throws WebhookError */
  async #send(run: Run): Promise<ServicePayment> {
    const isLate = now() + this.pause >= run.askBy;
    if (isLate || this.#ownPauseOf(run) > 0) throw new Limited(this.#pauseOf(run));
    const line = this.#line[run.source];
    const enter = (): Promise<void> | undefined => {
      if (this.#isFree()) return void this.#inFlight.add(run);
      return new Promise((go) => {
        line.set(run, go);
        this.#advance();
      });
    };
    try {
      await run.queue('the line of questions', enter, run.askBy, () => new Limited(this.pause));
      return await this.#askClient(run);
    } finally {
      line.delete(run);
      this.#inFlight.delete(run);
      this.#advance();
    }
  }

  async #askClient(run: Run): Promise<ServicePayment> {
    const { reference } = run;
    let at = now();
    let answer: unknown;
    try {
      const ask = () => {
        const asking = this.#client.getPayment(reference, run.createContext());
        at = now();
        return asking;
      };
      answer = await run.wait('the service', ask, 'the service did not answer in time');
    } catch (cause) {
      if (run.error !== undefined) throw run.error;
      const [status, retryAfter] = [fieldOfError(cause, 'status'), retryAfterOf(cause)];
      if (status === 429) {
        this.#noteRefusal(run, at, retryAfter);
        throw new Limited(this.#pauseOf(run), cause);
      }
      if (status !== undefined) this.#noteAnswer();
      // Without the cause, because an error of an HTTP client can hold its whole response.
      this.#remember(run, at, readClientError({ status, retryAfter }));
      return paymentOf(readClientError(cause));
    }
    this.#noteAnswer();
    const result = readAnswer(answer, reference);
    this.#remember(run, at, result);
    return paymentOf(result);
  }

  /** Starts as many questions as there is room for, or tries again after the pause. */
  #advance(): void {
    stopTimer(this.#timer);
    const { pause } = this;
    if (pause > 0) {
      this.#timer = startTimer(() => this.#advance(), Math.ceil(pause));
      unref(this.#timer);
      return;
    }
    while (this.#hasPlace()) {
      const question = this.#next();
      if (question === undefined) return;
      const [run, go] = question;
      this.#inFlight.add(run);
      go();
    }
  }

  /** True if a question can go before any other. */
  #isFree(): boolean {
    const isWaiting = Object.values(this.#line).some((line) => line.size > 0);
    return this.pause === 0 && !isWaiting && this.#hasPlace();
  }

  #hasPlace(): boolean {
    const places = Math.floor(this.#places);
    if (this.#inFlight.size < places) return true;
    for (const run of this.#inFlight) if (run.isLost) this.#inFlight.delete(run);
    return this.#inFlight.size < places;
  }

  #next(): [Run, () => void] | undefined {
    let passed = 0;
    while (passed++ < ROUND.length) {
      const question = this.#line[ROUND[this.#turn++ % ROUND.length]!].shift();
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
    const known = this.#answers.get(run.key);
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
      for (const waiting of line.keys()) {
        if (this.#pauseEnd >= waiting.askBy) waiting.leaveQueue(new Limited(this.pause));
      }
    }
  }

  #pauseOf(run: Run): number {
    return Math.max(this.pause, this.#ownPauseOf(run));
  }

  #ownPauseOf({ key }: Run): number {
    return (this.#answers.get(key)?.pauseEnd ?? 0) - now();
  }

  #remember({ key }: Run, at: number, result: Omit<Answer, 'firstAt' | 'at'>): void {
    const { firstAt = at } = this.#answers.get(key) ?? {};
    this.#answers.delete(key);
    this.#answers.set(key, { firstAt, at, ...result });
    if (this.#answers.size > MOST_ANSWERS) this.#answers.shift();
  }
}

function paymentOf({ payment, error }: QuestionResult): ServicePayment {
  if (payment === undefined) throw error!;
  return payment;
}

function isReusable({ firstAt, at, payment, error }: Answer, run: Run): boolean {
  const isAnswer = payment !== undefined || error?.code === 'no_payment';
  const grown = isAnswer ? Math.min(LONGEST_REUSE, (now() - firstAt) / 4) : 0;
  const isFresh = now() - at < Math.max(REUSED_FOR, grown);
  if (!isFresh || run.source !== 'webhook') return isFresh;
  return payment?.status === 'success' || (isAnswer && at > run.start);
}
