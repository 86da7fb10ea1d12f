/** The second half of a run: asks the service about the orders that the books do not settle. */
import { setTimeout as pause } from 'node:timers/promises';
import { isPaylinkError, type Payment } from '@paylink/client';
import { readPayments, type PaymentClient, type PaymentReading } from '@paylink/payments';
import type { Books } from './books.js';
import { findingOf } from './finding.js';
import { judge, type Answer } from './judge.js';
import type { AnswerLine, Checkpoint, Counts, LineWriter, StateFolder } from './state.js';

export interface AskOptions {
  readonly state: StateFolder;
  readonly from: Checkpoint;
  readonly reader: PaymentClient<Payment>;
  readonly tenant: string | undefined;
  readonly concurrency: number;
  /** The most requests per second. */
  readonly rate: number | undefined;
  /** The currency of orders without one. */
  readonly currency: string;
  readonly hasMarks: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (asked: number) => void;
  readonly onPause: (milliseconds: number) => void;
}

export interface Asked {
  readonly checkpoint: Checkpoint;
  /** The reason if the run ended early. */
  readonly stopped?: string;
}

/** Failures in a row that mean that the service is down and a person must look. */
const MOST_FAILURES = 20;
/** Milliseconds, and answers, between two checkpoints. */
const CHECKPOINT_INTERVAL = 1_000;
const CHECKPOINT_ANSWERS = 10_000;

export async function askService(options: AskOptions): Promise<Asked> {
  const { state, from, reader, tenant, concurrency, rate, signal, onProgress, onPause } = options;
  const answers = new Answers(state.answers(), from);
  const underWay: { readonly books: Books; readonly end: number }[] = [];
  async function* references(): AsyncGenerator<string, void, undefined> {
    const pace = rate === undefined ? undefined : new Pace(rate);
    for await (const question of state.readQuestions(from.end)) {
      underWay.push(question);
      await pace?.next(signal);
      yield question.books.reference!;
    }
  }
  let failures = 0;
  try {
    for await (const reading of readPayments({
      client: reader,
      references: references(),
      concurrency,
      tenant,
      signal,
      onPause,
    })) {
      const { books, end } = underWay.shift()!;
      const answer = answerOf(reading);
      failures = isAway(reading) ? failures + 1 : 0;
      if (failures >= MOST_FAILURES || isRefusedKey(reading)) {
        return {
          checkpoint: answers.known,
          stopped: `the service gives no answer (${(answer as { error: string }).error})`,
        };
      }
      await answers.add({ books, end, answer, isLasting: failures === 0 }, options);
      onProgress(answers.asked);
    }
    await answers.finish();
    return { checkpoint: answers.known };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { checkpoint: answers.known, stopped: 'interrupted' };
  } finally {
    await answers.close();
  }
}

/** Writes the answers and, from time to time, a checkpoint. */
class Answers {
  readonly #writer: LineWriter;
  /**
   * Failures that may mean that the service is down. They are written only if an answer follows.
   */
  readonly #waiting: AnswerLine[] = [];
  readonly #counts: Counts;
  #counted: Counts = {};
  #read: number;
  #end: number;
  #saved: Checkpoint;
  #savedAt = performance.now();
  asked: number;
  /** The checkpoint of the written answers. */
  known: Checkpoint;

  constructor(writer: LineWriter, from: Checkpoint) {
    this.#writer = writer;
    this.known = from;
    this.#saved = from;
    this.#counts = { ...from.counts };
    this.#read = from.read;
    this.#end = from.end;
    this.asked = from.asked;
  }

  async add(
    {
      books,
      end,
      answer,
      isLasting,
    }: {
      readonly books: Books;
      readonly end: number;
      readonly answer: Answer;
      readonly isLasting: boolean;
    },
    { currency, hasMarks }: Pick<AskOptions, 'currency' | 'hasMarks'>,
  ): Promise<void> {
    this.asked++;
    this.#end = end;
    if ('status' in answer && answer.status !== 'none') this.#read++;
    const { verdict, reason } = judge(books, answer, currency);
    const at = Date.now();
    if (verdict === 'lost') this.#waiting.push({ unsure: 'lost', books, answer, at });
    // A wrong key or address knows no payments, so its answers prove nothing about orders or
    // credits.
    else if (this.#read === 0 && 'status' in answer && answer.status === 'none') {
      this.#waiting.push({ unsure: 'no payment', books, answer, at });
    } else {
      this.#counted[verdict] = (this.#counted[verdict] ?? 0) + 1;
      if (verdict !== 'right' && verdict !== 'not_asked') {
        this.#waiting.push({ finding: findingOf(verdict, reason, books, { hasMarks, answer }) });
      }
    }
    if (isLasting) await this.#write();
  }

  /** Writes the last answers. */
  async finish(): Promise<void> {
    await this.#write();
  }

  async close(): Promise<void> {
    await this.#save();
    await this.#writer.close();
  }

  async #write(): Promise<void> {
    for (const line of this.#waiting) await this.#writer.write(line);
    this.#waiting.length = 0;
    for (const [verdict, count] of Object.entries(this.#counted)) {
      const name = verdict as keyof Counts;
      this.#counts[name] = (this.#counts[name] ?? 0) + count;
    }
    this.#counted = {};
    this.known = {
      end: this.#end,
      asked: this.asked,
      read: this.#read,
      counts: { ...this.#counts },
    };
    const isDue =
      this.asked - this.#saved.asked >= CHECKPOINT_ANSWERS ||
      performance.now() - this.#savedAt >= CHECKPOINT_INTERVAL;
    if (isDue) await this.#save();
  }

  async #save(): Promise<void> {
    if (this.known !== this.#saved) await this.#writer.write({ checkpoint: this.known });
    this.#saved = this.known;
    this.#savedAt = performance.now();
  }
}

function answerOf(reading: PaymentReading<Payment>): Answer {
  if ('payment' in reading) return answerBy(reading.payment);
  const { error } = reading;
  if (!isPaylinkError(error))
    return { error: error instanceof Error ? error.message : String(error) };
  if (error.code !== 'not_found') return { error: error.code };
  // HTML comes from a proxy or a wrong address: the API itself has no pages.
  if (typeof error.body === 'string' && /^\s*</.test(error.body))
    return { error: 'not_found, with a page of HTML' };
  // Some proxies answer 404 to an encoded slash, with their own body or none.
  const isSlashed = encodeURIComponent(reading.reference).includes('%2F');
  if (isSlashed && Object(error.body) !== error.body)
    return { error: 'not_found, without JSON, to a reference with a slash' };
  return { status: 'none' };
}

function answerBy(payment: Payment): Answer {
  if (payment.status === 'unknown')
    return { error: `the status ${JSON.stringify(payment.sentStatus)} is not in the contract` };
  return { status: payment.status, amount: payment.amount, currency: payment.currency };
}

/** Failures of the service, not of one reference. */
const AWAY = new Set([
  'network_error',
  'timeout',
  'service_error',
  'rate_limited',
  'unauthorized',
  'forbidden',
  'redirected',
]);

function isAway(reading: PaymentReading<Payment>): boolean {
  return 'error' in reading && isPaylinkError(reading.error) && AWAY.has(reading.error.code);
}

function isRefusedKey(reading: PaymentReading<Payment>): boolean {
  return (
    'error' in reading && isPaylinkError(reading.error) && reading.error.code === 'unauthorized'
  );
}

/** Spaces requests evenly. */
class Pace {
  readonly #distance: number;
  #next = performance.now();

  constructor(rate: number) {
    this.#distance = 1_000 / rate;
  }

  async next(signal: AbortSignal): Promise<void> {
    const wait = this.#next - performance.now();
    this.#next = Math.max(this.#next, performance.now()) + this.#distance;
    if (wait > 0) await pause(wait, undefined, { signal });
  }
}
