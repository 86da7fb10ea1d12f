/** Gives each order one verdict. An order is `right` only if the service was asked about it. */
import type { Books } from './books.js';
import type { Expected } from './rows.js';

/** The verdicts, of which each order gets exactly one. */
export const VERDICTS = [
  'right',
  'lost',
  'doubled',
  'credited_without_payment',
  'amount_differs',
  'unknown',
  'not_asked',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The findings without an order. */
export const STRAYS = [
  'reference_repeated',
  'credit_without_order',
  'mark_without_order',
  'input_fault',
] as const;
export type Stray = (typeof STRAYS)[number];

export type Ask = 'all' | 'undecided' | 'none';

/** The service's answer about a reference. */
export type Answer =
  | { readonly status: string; readonly amount?: number | undefined; readonly currency: string }
  /** The service does not know the payment. */
  | { readonly status: 'none' }
  /** The answer cannot be used. */
  | { readonly error: string };

export interface Judged {
  readonly verdict: Verdict;
  /** The reason, for people. */
  readonly reason: string;
}

/** Returns the verdict of the books alone, or undefined if the service must be asked. */
export function judgeByBooks(books: Books, ask: Ask, hasMarks: boolean): Judged | undefined {
  const { credits, fault, contradictory, marked } = books;
  if (credits > 1) return found('doubled', `credited ${credits} times`);
  if (fault !== undefined) return found('unknown', fault);
  if (ask === 'all') return undefined;
  const differs = credits === 1 ? byCreditedAmount(books) : undefined;
  if (differs !== undefined) return differs;
  const isDecided = credits === 1 && hasMarks && marked === true && contradictory === undefined;
  if (ask === 'undecided' && !isDecided) return undefined;
  if (credits === 0 && marked === true) return found('unknown', 'marked as done, and not credited');
  return { verdict: 'not_asked', reason: 'the service was not asked' };
}

/** Returns the verdict of the service's answer. `currency` is the default currency. */
export function judge(books: Books, answer: Answer, currency: string): Judged {
  if ('error' in answer)
    return judgeUnanswered(books, `the service gave no usable answer (${answer.error})`);
  switch (answer.status) {
    case 'success':
      return judgePaid(books, answer, currency);
    case 'none':
      return judgeUnpaid(books, 'the service does not know the payment');
    case 'pending':
    case 'failed':
    case 'cancelled':
      return judgeUnpaid(books, `the payment is ${answer.status}`);
    default:
      return found(
        'unknown',
        `the payment has a status outside the contract (${JSON.stringify(answer.status)})`,
      );
  }
}

/** Returns the verdict if the service's answer cannot be used. */
export function judgeUnanswered(books: Books, why: string): Judged {
  return byCreditedAmount(books) ?? found('unknown', why);
}

type Paid = Extract<Answer, { readonly currency: string }>;

function judgePaid(books: Books, { amount, currency }: Paid, defaultCurrency: string): Judged {
  const { credits, credited, byHand, contradictory, expected } = books;
  if (contradictory !== undefined && credits > 0) {
    return found('unknown', 'paid and credited, but the rows of the order have different amounts');
  }
  const mustBe = books.currency ?? defaultCurrency;
  if (currency !== mustBe)
    return found('amount_differs', `paid in ${currency}, ordered in ${mustBe}`);
  if (
    contradictory === undefined &&
    expected !== undefined &&
    amount !== undefined &&
    !fits(amount, expected)
  ) {
    return found(
      'amount_differs',
      `paid ${amount}, ordered ${range(expected)}${credits === 0 ? ', not credited' : ''}`,
    );
  }
  if (credits === 0) {
    const next =
      books.marked === true
        ? 'marked as done, so a retry will not credit it'
        : 'reconcile credits it';
    return found('lost', `paid and not credited; ${next}`);
  }
  if (byHand === true) {
    return found(
      'unknown',
      'paid at the service and credited by hand: if both are the same money, by_hand must be false',
    );
  }
  if (expected === undefined)
    return found('unknown', 'paid and credited, but the order has no amount to compare with');
  if (amount === undefined)
    return judgeUnanswered(books, 'paid and credited, but the service states no amount');
  if (credited !== undefined && credited !== amount)
    return found('amount_differs', `paid ${amount}, credited ${credited}`);
  return { verdict: 'right', reason: 'paid and credited once' };
}

function judgeUnpaid(books: Books, what: string): Judged {
  const { credits, byHand, marked } = books;
  if (credits > 0) {
    if (byHand === true)
      return byCreditedAmount(books) ?? { verdict: 'right', reason: `credited by hand, ${what}` };
    return found('credited_without_payment', `credited, but ${what}`);
  }
  // The order is not wrong yet, but the store would treat the next notification as a duplicate.
  if (marked === true)
    return found('unknown', `marked as done, but ${what}: a payment now would not be credited`);
  return { verdict: 'right', reason: `not credited, ${what}` };
}

/**
 * Compares the merchant's own two amounts. The credit must equal the stored amount (docs/service.md
 * 6.8).
 */
function byCreditedAmount({
  expected,
  credited,
  credits,
  contradictory,
}: Books): Judged | undefined {
  if (
    credits !== 1 ||
    credited === undefined ||
    expected === undefined ||
    contradictory !== undefined
  )
    return undefined;
  return fits(credited, expected)
    ? undefined
    : found('amount_differs', `credited ${credited}, ordered ${range(expected)}`);
}

function fits(amount: number, expected: Expected): boolean {
  return 'amount' in expected
    ? amount === expected.amount
    : amount >= expected.least && amount <= expected.most;
}

function range(expected: Expected): string {
  return 'amount' in expected ? String(expected.amount) : `${expected.least} to ${expected.most}`;
}

function found(verdict: Verdict, reason: string): Judged {
  return { verdict, reason };
}
