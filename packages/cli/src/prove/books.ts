/** The books of one reference, gathered from the rows of all inputs in any order. */
import type { Expected, Row } from './rows.js';

export interface Books {
  /** The digest of the reference's mark. */
  readonly digest: string;
  /** Missing if only a mark exists. */
  reference?: string;
  /** The number of order rows. */
  orders: number;
  expected?: Expected;
  currency?: string;
  /** Set if the order's rows have different amounts. */
  contradictory?: true;
  credits: number;
  /** The last credited amount. It counts only for a single credit. */
  credited?: number;
  byHand?: true;
  marked?: true;
  fault?: string;
}

export function emptyBooks(digest: string): Books {
  return { digest, orders: 0, credits: 0 };
}

export function enter(books: Books, row: Exclude<Row, { kind: 'useless' }>): void {
  if (row.kind === 'mark') {
    books.marked = true;
    return;
  }
  books.reference = row.reference;
  if (row.fault !== undefined) books.fault ??= row.fault;
  if (row.kind === 'order') {
    const { expected, currency } = row;
    const differs = !isSame(books.expected, expected) || books.currency !== currency;
    if (books.orders++ > 0 && differs) books.contradictory = true;
    if (expected !== undefined) books.expected = expected;
    if (currency !== undefined) books.currency = currency;
  } else {
    books.credits++;
    if (row.amount !== undefined) books.credited = row.amount;
    if (row.byHand === true) books.byHand = true;
  }
}

function isSame(a: Expected | undefined, b: Expected | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
