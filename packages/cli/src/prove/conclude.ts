/** The end of a run: decides the unsure orders and gathers all findings. */
import { setTimeout as pause } from 'node:timers/promises';
import { enter, type Books } from './books.js';
import { findingOf, type Finding } from './finding.js';
import { judge, judgeUnanswered, type Answer, type Judged, type Verdict } from './judge.js';
import type { CreditRow } from './rows.js';
import type { AnswerLine, BooksRead, Checkpoint, LineWriter, StateFolder } from './state.js';

/** Reads the present credits of some references. */
export type ReadCredits = (references: readonly string[]) => Promise<readonly CreditRow[]>;

export interface ConcludeOptions {
  readonly state: StateFolder;
  readonly books: BooksRead;
  readonly checkpoint: Checkpoint;
  readonly currency: string;
  readonly hasMarks: boolean;
  /** Missing if the credits cannot be read again. */
  readonly readCredits: ReadCredits | undefined;
  /** Milliseconds that a credit may take after the service reported the payment. */
  readonly grace: number;
  readonly signal: AbortSignal;
}

export interface Outcome {
  /** The number of orders per verdict. */
  readonly verdicts: Readonly<Record<string, number>>;
  /** The number of findings per name. */
  readonly findings: Readonly<Record<string, number>>;
  readonly total: number;
}

type Lost = Extract<AnswerLine, { unsure: unknown }>;

const BATCH = 1_000;
const KNEW_NONE = 'the service knew none of the payments: check the address and the key';

export async function conclude(options: ConcludeOptions): Promise<Outcome> {
  const { state, books, checkpoint, currency, hasMarks } = options;
  const gathering = new Gathering(state.final(), { ...books.counts });
  for (const [verdict, count] of Object.entries(checkpoint.counts))
    gathering.count(verdict as Verdict, count);
  gathering.count('not_asked', books.questions - checkpoint.asked);
  try {
    for await (const finding of state.readSettled()) await gathering.add(finding);
    let batch: Lost[] = [];
    const decide = async (): Promise<void> => {
      const judged = await lookAgain(batch, options);
      for (const [index, { books: those, answer }] of batch.entries()) {
        await gathering.decide(judged[index]!, those, { hasMarks, answer });
      }
      batch = [];
    };
    for await (const line of state.readAnswers()) {
      if ('finding' in line) await gathering.add(line.finding);
      if (!('unsure' in line)) continue;
      if (line.unsure === 'no payment') {
        const judged =
          checkpoint.read > 0
            ? judge(line.books, line.answer, currency)
            : judgeUnanswered(line.books, KNEW_NONE);
        await gathering.decide(judged, line.books, { hasMarks, answer: line.answer });
      } else if (batch.push(line) === BATCH) await decide();
    }
    if (batch.length > 0) await decide();
  } finally {
    await gathering.close();
  }
  return gathering.outcome();
}

/**
 * Reads the credits again. The books were read before the service was asked, so an order that was
 * paid in between should be credited by now. If it is still not credited, it is lost.
 */
async function lookAgain(
  batch: readonly Lost[],
  options: ConcludeOptions,
): Promise<readonly Judged[]> {
  const { readCredits, grace, signal, currency } = options;
  const before = (): readonly Judged[] =>
    batch.map(({ books, answer }) => judge(books, answer, currency));
  if (readCredits === undefined || signal.aborted) return before();
  try {
    const last = batch.reduce((latest, { at }) => Math.max(latest, at), 0);
    await pause(Math.max(0, last + grace - Date.now()), undefined, { signal });
  } catch {
    return before();
  }
  const rows = new Map<string, CreditRow[]>();
  for (const row of await readCredits(batch.map(({ books }) => books.reference!))) {
    rows.set(row.reference, [...(rows.get(row.reference) ?? []), row]);
  }
  return batch.map(({ books, answer }) =>
    judgeAgain(books, rows.get(books.reference!) ?? [], answer, currency),
  );
}

function judgeAgain(
  books: Books,
  credits: readonly CreditRow[],
  answer: Answer,
  currency: string,
): Judged {
  for (const row of credits) enter(books, row);
  if (books.credits > 1) return { verdict: 'doubled', reason: `credited ${books.credits} times` };
  if (books.fault !== undefined) return { verdict: 'unknown', reason: books.fault };
  return judge(books, answer, currency);
}

class Gathering {
  readonly #writer: LineWriter;
  readonly #verdicts: Record<string, number>;
  readonly #findings: Record<string, number> = {};
  #total = 0;

  constructor(writer: LineWriter, verdicts: Record<string, number>) {
    this.#writer = writer;
    this.#verdicts = verdicts;
  }

  count(verdict: Verdict, count: number): void {
    this.#verdicts[verdict] = (this.#verdicts[verdict] ?? 0) + count;
  }

  async add(finding: Finding): Promise<void> {
    this.#findings[finding.finding] = (this.#findings[finding.finding] ?? 0) + 1;
    this.#total++;
    await this.#writer.write(finding);
  }

  async decide(
    { verdict, reason }: Judged,
    books: Books,
    details: { readonly hasMarks: boolean; readonly answer: Answer },
  ): Promise<void> {
    this.count(verdict, 1);
    if (verdict !== 'right' && verdict !== 'not_asked')
      await this.add(findingOf(verdict, reason, books, details));
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }

  outcome(): Outcome {
    return { verdicts: this.#verdicts, findings: this.#findings, total: this.#total };
  }
}
