/**
 * Asks the service for payments. All questions of one client wait in one line, whether the return
 * page, a webhook or the schedule asks. The line pauses if the service says so, and then goes
 * on at the rate that the service showed.
 */
import type { WebhookError } from '@paylink/core';
import { confirmError, NotAsked, readPayment, RecentAnswers, retryAfterOf } from './answer.js';
import type { PaymentClient, ServicePayment } from './contract.js';
import { fieldOfError, runError } from './order.js';
import { now, startTimer, stopTimer, type Run } from './run.js';

/** Questions that hold a place. After `PROMPT` milliseconds each gives its place back. */
const MOST_IN_FLIGHT = 8;
const PROMPT = 2_000;
const MOST_WITHOUT_ANSWER = 64;
/** Refusals after which a question leaves the line, because the limit may be its order's own. */
const MOST_REFUSALS = 2;
/** Milliseconds by which a turn may be late before its caller is told to come back. */
const ALLOWED_LATENESS = 100;

interface Question {
  readonly run: Run;
  /** Undefined while the question waits. */
  sentAt?: number | undefined;
  refusals: number;
  /** Ends the wait in the line. */
  turn?: { go: () => void; leave: (error: NotAsked) => void };
  answer?: Promise<ServicePayment>;
}

/** One for each client, because the service counts the questions of all payments together. */
const ASKERS = new WeakMap<PaymentClient, Asker>();

export function askerOf(client: PaymentClient): Asker {
  const asker = ASKERS.get(client) ?? new Asker(client);
  ASKERS.set(client, asker);
  return asker;
}

export class Asker {
  readonly #client: PaymentClient;
  readonly #pace = new Pace();
  readonly #recent = new RecentAnswers();
  readonly #open = new Map<string, Question>();
  /** The waiting questions, by rank. */
  readonly #line: Question[] = [];
  /** The questions without an answer, the oldest first. */
  readonly #sent = new Set<Question>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: PaymentClient) {
    this.#client = client;
  }

  get pause(): number {
    return this.#pace.pause;
  }

  /**
   * Returns the service's payment. A webhook reuses only a success, or the answer to a question
   * that was sent after it came, because the customer may have paid at a second try since.
   *
   * @throws WebhookError `no_payment`, `confirm_unavailable` or `handler_timeout`
   */
  ask(run: Run): Promise<ServicePayment> {
    const known = this.#recent.get(run.key);
    const isForAll = run.source !== 'webhook' || known?.isSuccess === true;
    if (known !== undefined && (isForAll || known.sentAt >= run.start)) return known.answer;
    const open = this.#open.get(run.key);
    if (open !== undefined && !open.run.isDead) return this.#join(open, run);
    const question: Question = { run, refusals: 0 };
    this.#open.set(run.key, question);
    question.answer = this.#askInTurn(question);
    return question.answer;
  }

  /** Waits for a question of the same order, and then asks again: its answer may be too old. */
  async #join(question: Question, run: Run): Promise<ServicePayment> {
    const toReason = (): WebhookError =>
      question.sentAt === undefined ? this.#notAsked(question) : late();
    const ended = question.answer!.catch(() => undefined);
    await run.join(question.run, 'the service', ended, toReason);
    return this.ask(run);
  }

  /** Asks in the request of the caller, because a Worker ends the work of every other request. */
  async #askInTurn(question: Question): Promise<ServicePayment> {
    const { run } = question;
    const { key, reference, tenant, signal } = run;
    let isSuccess = false;
    try {
      let answer: unknown;
      while (question.sentAt === undefined) {
        if (this.#line.length === 0 && this.#next() <= now()) this.#noteSent(question);
        else await this.#turnOf(question);
        try {
          const ask = () => this.#client.getPayment(reference, { signal, tenant });
          answer = await run.wait('the service', ask, late);
          this.#pace.noteAnswer();
        } catch (error) {
          this.#noteError(question, error);
        }
      }
      const payment = readPayment(answer, reference);
      isSuccess = payment.status === 'success';
      return payment;
    } finally {
      this.#sent.delete(question);
      if (this.#open.get(key) === question) this.#open.delete(key);
      const { sentAt, answer } = question;
      if (sentAt !== undefined) this.#recent.add(key, { answer: answer!, isSuccess, sentAt });
      this.#send();
    }
  }

  /** @throws the run's error, unless the service refused the question, which then waits again */
  #noteError(question: Question, error: unknown): void {
    const { run, sentAt } = question;
    if (run.signal.aborted) throw run.signal.reason;
    const status = fieldOfError(error, 'status');
    if (status === 429) {
      this.#sent.delete(question);
      question.sentAt = undefined;
      this.#pace.noteRefusal(sentAt!, retryAfterOf(error));
      this.#turnAway();
      if (++question.refusals < MOST_REFUSALS) return;
      throw this.#notAsked(question, this.pause);
    }
    if (status !== undefined) this.#pace.noteAnswer();
    throw confirmError(error);
  }

  /** Waits in the line. @throws NotAsked */
  async #turnOf(question: Question): Promise<void> {
    const { run } = question;
    run.onHurry = () => {
      this.#leaveLine(question);
      this.#enterLine(question);
      this.#turnAway();
    };
    const turn = new Promise<void>((go, leave) => (question.turn = { go, leave }));
    this.#enterLine(question);
    this.#turnAway();
    this.#send();
    try {
      const toReason = (): NotAsked => this.#notAsked(question);
      await run.wait('the service', () => turn, toReason, run.end - now());
    } finally {
      run.onHurry = undefined;
      this.#leaveLine(question);
    }
  }

  #enterLine(question: Question): void {
    const place = this.#line.findLastIndex(({ run }) => run.rank <= question.run.rank) + 1;
    this.#line.splice(place, 0, question);
  }

  #leaveLine(question: Question): void {
    const place = this.#line.indexOf(question);
    if (place >= 0) this.#line.splice(place, 1);
  }

  /** Lets as many questions go as may be sent now, and comes back for the next one. */
  #send(): void {
    stopTimer(this.#timer);
    while (this.#line.length > 0) {
      const wait = this.#next() - now();
      if (wait > 0) {
        this.#timer = startTimer(() => this.#send(), Math.ceil(wait));
        // The callers' own timers keep the process alive.
        (this.#timer as Partial<NodeJS.Timeout>).unref?.();
        return;
      }
      const question = this.#line.shift()!;
      if (question.run.end <= now()) {
        question.turn!.leave(this.#notAsked(question, 0));
        continue;
      }
      this.#noteSent(question);
      question.turn!.go();
    }
  }

  #noteSent(question: Question): void {
    question.sentAt = now();
    this.#pace.lastSent = question.sentAt;
    this.#sent.add(question);
  }

  /** Returns the value of `now()` at which a question may go, unless an answer comes before. */
  #next(): number {
    const next = this.#pace.next();
    if (this.#sent.size < MOST_IN_FLIGHT) return next;
    for (const question of this.#sent) if (question.run.isDead) this.#sent.delete(question);
    if (this.#sent.size >= MOST_WITHOUT_ANSWER) return now() + PROMPT;
    const eighth = [...this.#sent].at(-MOST_IN_FLIGHT);
    return eighth === undefined ? next : Math.max(next, eighth.sentAt! + PROMPT);
  }

  /** Returns the milliseconds until the turn of a waiting question, as far as the line knows. */
  #waitOf(question: Question): number {
    const ahead = Math.max(0, this.#line.indexOf(question));
    return Math.max(0, this.#pace.next() - now()) + ahead * this.#pace.interval;
  }

  /** Tells the callers at once whose turns will come too late. */
  #turnAway(): void {
    let wait = Math.max(0, this.#pace.next() - now());
    if (wait === 0 && this.#pace.interval === 0) return;
    for (const question of this.#line.splice(0)) {
      const { run, turn } = question;
      const isLate = ({ end }: Run): boolean => now() + wait >= end + ALLOWED_LATENESS;
      for (const caller of run.callers) {
        if (isLate(caller)) caller.leave?.(this.#notAsked(question, wait));
      }
      if (isLate(run)) {
        turn!.leave(this.#notAsked(question, wait));
      } else {
        this.#line.push(question);
        wait += this.#pace.interval;
      }
    }
  }

  #notAsked(question: Question, retryAfter = this.#waitOf(question)): NotAsked {
    const { refusals } = question;
    const isLimited = refusals > 0 || this.pause > 0 || this.#pace.interval > 0;
    const message = isLimited
      ? 'the service limits its questions, and this one has to come back later'
      : 'questions that the service does not answer hold every place';
    return new NotAsked(message, retryAfter, refusals > 0);
  }
}

function late(): WebhookError {
  return runError('handler_timeout', 'the service did not answer in time');
}

/** Milliseconds to pause after a 429 without `retryAfter`. Doubles with each refusal. */
const FIRST_PAUSE = 1_000;
/** The least pause after a 429, which doubles too, because the service may say 0. */
const SHORTEST_PAUSE = 250;
const LONGEST_DOUBLED = 60_000;
const LONGEST_PAUSE = 3_600_000;
/** Milliseconds of random delay, so that processes refused together do not return together. */
const JITTER = 250;
/** Milliseconds in which answers are counted: a second, and a tenth for questions that are late. */
const WINDOW = 1_100;
/** Fewer answers before the first 429 show no rate: a 429 may be by chance. */
const ENOUGH_ANSWERS = 8;
/** Below this factor of the interval, the measured one is the line's own. */
const NEARLY = 1.25;
/** Factor of the interval after a 429 at that very rate. */
const SLOWER = 1.08;
/** Largest factor after a 429 at a lower rate. */
const MUCH_SLOWER = 1.5;
/** Number of pauses after which that factor is half. */
const RECOVERED_AFTER = 5;
/** Number of pauses after which the rate is double, because the service may allow more by now. */
const DOUBLED_AFTER = 60;
/** Milliseconds after a pause, at which the rate is forgotten. */
const RATE_KEPT_FOR = 60_000;
/** A longer pause says nothing about the rate. */
const LONGEST_MEASURED_PAUSE = 60_000;

export class Pace {
  #pauseEnd = 0;
  /** Milliseconds of the last pause. */
  #lastPause = 1;
  /** Pauses without an answer between them. */
  #refusals = 0;
  /** The values of `now()` of the answers since the last pause. */
  #answers: number[] = [];
  /** Milliseconds between two questions at the end of the pause, and at the rate without it. */
  #slowed = 0;
  #usual = 0;
  lastSent = -Infinity;

  /** Milliseconds until the service's pause ends. */
  get pause(): number {
    return Math.max(0, this.#pauseEnd - now());
  }

  /** Milliseconds between two questions. 0 if the service has shown no rate. */
  get interval(): number {
    return Math.max(this.#after(this.#slowed, RECOVERED_AFTER), this.#usualNow);
  }

  get #usualNow(): number {
    return this.#after(this.#usual, DOUBLED_AFTER);
  }

  #after(interval: number, pauses: number): number {
    const age = Math.max(0, now() - this.#pauseEnd);
    return age > RATE_KEPT_FOR ? 0 : interval * 2 ** (-age / (pauses * this.#lastPause));
  }

  /** Returns the value of `now()` at which the next question may be sent. */
  next(): number {
    return Math.max(this.#pauseEnd, this.lastSent + this.interval);
  }

  noteAnswer(): void {
    this.#refusals = 0;
    this.#answers.push(now());
    while (this.#answers[0]! < now() - WINDOW) this.#answers.shift();
  }

  /** Pauses after a 429, and slows down. */
  noteRefusal(sentAt: number, retryAfter: number | undefined): void {
    const { interval } = this;
    const usual = this.#usualNow;
    // The same limit refuses all questions that are in flight.
    const isFirst = sentAt >= this.#pauseEnd;
    const doubled = (pause: number) => Math.min(LONGEST_DOUBLED, pause * 2 ** this.#refusals);
    const said = Math.min(LONGEST_PAUSE, retryAfter ?? doubled(FIRST_PAUSE));
    const pause = Math.max(said, doubled(SHORTEST_PAUSE)) + Math.random() * JITTER;
    this.#pauseEnd = Math.max(this.#pauseEnd, now() + pause);
    if (!isFirst) return;
    this.#lastPause = Math.max(FIRST_PAUSE, pause);
    if (said > LONGEST_MEASURED_PAUSE) this.#slowed = this.#usual = 0;
    // A refusal right after a pause says that the pause was too short.
    else if (this.#refusals === 0) {
      const shown = this.#measured();
      const isAtRate = shown < interval * NEARLY;
      if (interval > 0) this.#usual = isAtRate ? interval * SLOWER : usual;
      else this.#usual = this.#answers.length >= ENOUGH_ANSWERS ? shown : 0;
      const most = interval === 0 ? shown : interval * MUCH_SLOWER;
      this.#slowed = isAtRate ? this.#usual : Math.min(most, shown);
    }
    this.#refusals++;
    this.#answers = [];
  }

  /** Takes the rate from the answers of the last second, or up to the end of a shorter pause. */
  #measured(): number {
    const recent = this.#answers.filter((time) => time > now() - WINDOW);
    const [first] = recent;
    return first === undefined ? 0 : Math.min(WINDOW, this.#pauseEnd - first) / recent.length;
  }
}
