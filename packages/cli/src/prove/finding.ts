import type { Books } from './books.js';
import { STRAYS, VERDICTS, type Answer, type Stray, type Verdict } from './judge.js';

/** The verdict of an order, or the kind of a finding beside the orders. */
export interface Finding {
  readonly finding: Exclude<Verdict, 'right' | 'not_asked'> | Stray;
  readonly reference?: string;
  /** The reason, for people. */
  readonly reason: string;
  readonly ordered?: number | { readonly least: number; readonly most: number };
  readonly credits?: number;
  readonly credited?: number;
  /** Set if the store holds the order's mark. Missing without marks. */
  readonly marked?: boolean;
  /** The digest of a mark without an order. */
  readonly mark?: string;
  readonly status?: string;
  readonly paid?: number;
  readonly currency?: string;
}

export const FINDINGS = [
  ...VERDICTS.filter((verdict) => verdict !== 'right' && verdict !== 'not_asked'),
  ...STRAYS,
] as const;

export function findingOf(
  finding: Finding['finding'],
  reason: string,
  books: Books,
  { hasMarks, answer }: { readonly hasMarks: boolean; readonly answer?: Answer },
): Finding {
  const { reference, expected, credits, credited, marked, digest } = books;
  return {
    finding,
    ...(reference === undefined ? { mark: digest } : { reference }),
    reason,
    ...(expected === undefined
      ? {}
      : { ordered: 'amount' in expected ? expected.amount : expected }),
    ...(reference === undefined ? {} : { credits }),
    ...(credits === 1 && credited !== undefined ? { credited } : {}),
    ...(hasMarks ? { marked: marked === true } : {}),
    ...(answer === undefined || 'error' in answer
      ? {}
      : {
          status: answer.status,
          ...('amount' in answer && answer.amount !== undefined ? { paid: answer.amount } : {}),
          ...('currency' in answer ? { currency: answer.currency } : {}),
        }),
  };
}
