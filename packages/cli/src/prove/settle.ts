/**
 * The first half of a run: reads the books, settles the clear orders, and turns the rest into
 * questions.
 */
import type { Books } from './books.js';
import { findingOf, type Finding } from './finding.js';
import { judgeByBooks, type Ask } from './judge.js';
import type { BooksRead, Counts, StateFolder } from './state.js';

/** The rows of all inputs, by reference. */
export interface BookSource {
  /** @param onFault called for a row without a reference */
  books(onFault: (fault: string) => Promise<void>): AsyncIterable<Books>;
  /** The number of rows read so far. */
  readonly rows: BooksRead['rows'];
}

export interface SettleOptions {
  readonly run: string;
  readonly source: BookSource;
  readonly state: StateFolder;
  readonly ask: Ask;
  readonly hasMarks: boolean;
  /**
   * Set if the list of orders is incomplete. Credits and marks of other orders are then not
   * findings.
   */
  readonly isPartial: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number, references: number) => void;
}

export async function settleByBooks(options: SettleOptions): Promise<BooksRead> {
  const { run, source, state, ask, hasMarks, isPartial, signal, onProgress } = options;
  const questions = state.questions();
  const settled = state.settled();
  const counts: Counts = {};
  const findings: Record<string, number> = {};
  const readAt = new Date().toISOString();
  let orders = 0;
  let asked = 0;
  let references = 0;
  const find = async (finding: Finding): Promise<void> => {
    findings[finding.finding] = (findings[finding.finding] ?? 0) + 1;
    await settled.write(finding);
  };
  try {
    for await (const books of source.books((reason) => find({ finding: 'input_fault', reason }))) {
      signal.throwIfAborted();
      if (++references % 4_096 === 0) onProgress(total(source.rows), references);
      if (books.orders === 0) {
        const stray = isPartial ? undefined : strayOf(books, hasMarks);
        if (stray !== undefined) await find(stray);
        continue;
      }
      orders++;
      if (books.orders > 1) {
        const reason =
          `${books.orders} rows of the orders have this reference: duplicate orders, of ` +
          'which a payment pays only one, or a join';
        await find(findingOf('reference_repeated', reason, books, { hasMarks }));
      }
      const judged = judgeByBooks(books, ask, hasMarks);
      if (judged === undefined) {
        asked++;
        await questions.write(books);
        continue;
      }
      const { verdict, reason } = judged;
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      if (verdict !== 'right' && verdict !== 'not_asked')
        await find(findingOf(verdict, reason, books, { hasMarks }));
    }
  } finally {
    await questions.close();
    await settled.close();
  }
  const read: BooksRead = {
    run,
    readAt,
    rows: { ...source.rows },
    orders,
    questions: asked,
    counts,
    findings,
  };
  await state.finishBooks(read);
  return read;
}

function strayOf(books: Books, hasMarks: boolean): Finding | undefined {
  const { credits, marked } = books;
  if (credits > 0) {
    return findingOf(
      'credit_without_order',
      `credited ${times(credits)}, and no order has this reference`,
      books,
      { hasMarks },
    );
  }
  return marked === true
    ? findingOf('mark_without_order', 'marked as done, and no order has this mark', books, {
        hasMarks,
      })
    : undefined;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function total({ orders, credits, marks }: BooksRead['rows']): number {
  return orders + credits + (marks ?? 0);
}
