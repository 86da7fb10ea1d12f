import type { Payment } from '@paylink/client';
import type { PaymentClient } from '@paylink/payments';
import { askService, type Asked } from './ask.js';
import { conclude, type Outcome, type ReadCredits } from './conclude.js';
import type { Ask } from './judge.js';
import { settleByBooks, type BookSource } from './settle.js';
import { nameOfRun, type BooksRead, type StateFolder } from './state.js';

export interface ProveOptions {
  readonly source: BookSource;
  readonly state: StateFolder;
  /** The identity of this run. Another run does not continue its state. */
  readonly settings: unknown;
  readonly ask: Ask;
  /** Missing if `ask` is none. */
  readonly reader: PaymentClient<Payment> | undefined;
  readonly tenant: string | undefined;
  readonly hasMarks: boolean;
  readonly isPartial: boolean;
  readonly currency: string;
  readonly concurrency: number;
  readonly rate: number | undefined;
  readonly readCredits: ReadCredits | undefined;
  readonly grace: number;
  readonly signal: AbortSignal;
  readonly onProgress: (step: Step) => void;
}

export type Step =
  | { readonly doing: 'reading'; readonly rows: number; readonly references: number }
  | { readonly doing: 'resuming'; readonly readAt: string; readonly asked: number }
  | { readonly doing: 'asking'; readonly asked: number; readonly questions: number }
  | { readonly doing: 'waiting'; readonly milliseconds: number }
  | { readonly doing: 'looking again' };

export interface Proof extends Outcome {
  /** Set if the run read and asked everything. */
  readonly complete: boolean;
  readonly stopped?: string;
  /** Missing if the run stopped before the end of the books. */
  readonly books?: BooksRead;
  readonly asked: number;
}

/** Returns true if the books were read to their end and held no orders. */
export function hasNoOrders({ books }: Proof): boolean {
  return books?.rows.orders === 0;
}

const NOTHING: Outcome = { verdicts: {}, findings: {}, total: 0 };

export async function prove(options: ProveOptions): Promise<Proof> {
  const { state, signal, onProgress } = options;
  const run = nameOfRun(options.settings);
  let books = await state.booksRead(run);
  const from = books === undefined ? await state.begin() : await state.resume();
  if (books !== undefined)
    onProgress({ doing: 'resuming', readAt: books.readAt, asked: from.asked });
  try {
    books ??= await settleByBooks({
      ...options,
      run,
      onProgress: (rows, references) => onProgress({ doing: 'reading', rows, references }),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    return { ...NOTHING, complete: false, stopped: 'interrupted', asked: 0 };
  }
  const { questions } = books;
  const asked: Asked =
    options.reader === undefined || questions === from.asked
      ? { checkpoint: from }
      : await askService({
          ...options,
          reader: options.reader,
          from,
          onProgress: (count) => onProgress({ doing: 'asking', asked: count, questions }),
          onPause: (milliseconds) => onProgress({ doing: 'waiting', milliseconds }),
        });
  const isStopped = asked.stopped !== undefined;
  if (!isStopped) onProgress({ doing: 'looking again' });
  const { checkpoint } = asked;
  const readCredits = isStopped ? undefined : options.readCredits;
  const outcome = await conclude({ ...options, books, checkpoint, readCredits });
  const isInterrupted = signal.aborted;
  return {
    ...outcome,
    complete: !isStopped && !isInterrupted,
    ...(isStopped ? { stopped: asked.stopped } : isInterrupted ? { stopped: 'interrupted' } : {}),
    books,
    asked: checkpoint.asked,
  };
}
