import { describe, expect, it } from 'vitest';
import { emptyBooks, enter, type Books } from '../src/prove/books.js';
import { judge, judgeByBooks, type Answer, type Ask, type Verdict } from '../src/prove/judge.js';
import { readCredit, readOrder, type Row } from '../src/prove/rows.js';

type Cells = Readonly<Record<string, string>>;

function booksOf({
  orders = [],
  credits = [],
  marked = false,
}: {
  orders?: Cells[];
  credits?: Cells[];
  marked?: boolean;
}): Books {
  const books = emptyBooks('d');
  const rows: Row[] = [
    ...orders.map((cells) => readOrder({ reference: 'r', ...cells }, 'an order')),
    ...credits.map((cells) => readCredit({ reference: 'r', ...cells }, 'a credit')),
    ...(marked ? [{ kind: 'mark', digest: 'd' } as const] : []),
  ];
  for (const row of rows) if (row.kind !== 'useless') enter(books, row);
  return books;
}

const order = [{ amount: '100' }];
const credit = [{ amount: '100' }];
const paid = (amount?: number, currency = 'XOF'): Answer => ({
  status: 'success',
  amount,
  currency,
});
const is = (status: string): Answer => ({ status, amount: 100, currency: 'XOF' });

describe('judge', () => {
  it.each<[string, Parameters<typeof booksOf>[0], Answer, Verdict]>([
    ['paid and credited', { orders: order, credits: credit }, paid(100), 'right'],
    ['paid, and credited without an amount', { orders: order, credits: [{}] }, paid(100), 'right'],
    ['paid and not credited', { orders: order }, paid(100), 'lost'],
    ['paid, marked and not credited', { orders: order, marked: true }, paid(100), 'lost'],
    ['pending and not credited', { orders: order }, is('pending'), 'right'],
    ['unknown to the service and not credited', { orders: order }, { status: 'none' }, 'right'],
    ['pending, marked and not credited', { orders: order, marked: true }, is('pending'), 'unknown'],
    [
      'pending and credited',
      { orders: order, credits: credit },
      is('pending'),
      'credited_without_payment',
    ],
    [
      'failed and credited',
      { orders: order, credits: credit },
      is('failed'),
      'credited_without_payment',
    ],
    [
      'cancelled and credited',
      { orders: order, credits: credit },
      is('cancelled'),
      'credited_without_payment',
    ],
    [
      'unknown to the service and credited',
      { orders: order, credits: credit },
      { status: 'none' },
      'credited_without_payment',
    ],
    [
      'cancelled and credited by hand',
      { orders: order, credits: [{ amount: '100', by_hand: 't' }] },
      is('cancelled'),
      'right',
    ],
    [
      'cancelled and credited by hand with another amount',
      { orders: order, credits: [{ amount: '9', by_hand: 't' }] },
      is('cancelled'),
      'amount_differs',
    ],
    [
      'unknown to the service and credited by hand with another amount',
      { orders: order, credits: [{ amount: '9', by_hand: 't' }] },
      { status: 'none' },
      'amount_differs',
    ],
    [
      'paid, and credited by hand',
      { orders: order, credits: [{ amount: '100', by_hand: 'true' }] },
      paid(100),
      'unknown',
    ],
    ['paid by less', { orders: order, credits: credit }, paid(99), 'amount_differs'],
    ['paid by less and refused', { orders: order }, paid(99), 'amount_differs'],
    ['paid by 0', { orders: order, credits: credit }, paid(0), 'amount_differs'],
    [
      'credited by more than was paid',
      { orders: order, credits: [{ amount: '101' }] },
      paid(100),
      'amount_differs',
    ],
    [
      'paid in another currency',
      { orders: order, credits: credit },
      paid(100, 'EUR'),
      'amount_differs',
    ],
    [
      'ordered and paid in another currency',
      { orders: [{ amount: '100', currency: 'EUR' }], credits: credit },
      paid(100, 'EUR'),
      'right',
    ],
    ['paid by an unstated amount', { orders: order, credits: credit }, paid(undefined), 'unknown'],
    [
      'paid by an unstated amount, credited by another amount',
      { orders: order, credits: [{ amount: '9' }] },
      paid(undefined),
      'amount_differs',
    ],
    [
      'without an amount, paid and credited',
      { orders: [{}], credits: credit },
      paid(100),
      'unknown',
    ],
    [
      'free and paid within its bounds',
      { orders: [{ amount_min: '50', amount_max: '100' }], credits: credit },
      paid(100),
      'right',
    ],
    [
      'free and paid over its bounds',
      { orders: [{ amount_min: '50', amount_max: '99' }], credits: credit },
      paid(100),
      'amount_differs',
    ],
    [
      'free and credited by another amount',
      { orders: [{ amount_min: '1', amount_max: '999' }], credits: credit },
      paid(200),
      'amount_differs',
    ],
    [
      'in two rows of different amounts',
      { orders: [{ amount: '100' }, { amount: '200' }], credits: credit },
      paid(100),
      'unknown',
    ],
    [
      'in two rows of different amounts, not credited',
      { orders: [{ amount: '100' }, { amount: '200' }] },
      paid(100),
      'lost',
    ],
    ['without an answer', { orders: order, credits: credit }, { error: 'timeout' }, 'unknown'],
    [
      'without an answer, credited by another amount',
      { orders: order, credits: [{ amount: '9' }] },
      { error: 'timeout' },
      'amount_differs',
    ],
  ])('gives the verdict on an order that is %s', (_, books, answer, verdict) => {
    expect(judge(booksOf(books), answer, 'XOF').verdict).toBe(verdict);
  });
});

describe('judgeByBooks', () => {
  it.each<[string, Parameters<typeof booksOf>[0], Ask, boolean, Verdict | undefined]>([
    ['credited twice', { orders: order, credits: [{}, {}] }, 'all', true, 'doubled'],
    [
      'credited once and marked',
      { orders: order, credits: credit, marked: true },
      'undecided',
      true,
      'not_asked',
    ],
    [
      'credited once and marked, with --ask all',
      { orders: order, credits: credit, marked: true },
      'all',
      true,
      undefined,
    ],
    [
      'credited once and not marked',
      { orders: order, credits: credit },
      'undecided',
      true,
      undefined,
    ],
    [
      'credited once, without any marks table',
      { orders: order, credits: credit },
      'undecided',
      false,
      undefined,
    ],
    ['not credited', { orders: order }, 'undecided', true, undefined],
    ['not credited, with --ask none', { orders: order }, 'none', true, 'not_asked'],
    [
      'marked and not credited, with --ask none',
      { orders: order, marked: true },
      'none',
      true,
      'unknown',
    ],
    [
      'credited by another amount',
      { orders: order, credits: [{ amount: '1' }], marked: true },
      'undecided',
      true,
      'amount_differs',
    ],
    ['of an amount with a fraction', { orders: [{ amount: '1.5' }] }, 'all', true, 'unknown'],
    [
      'of an amount and bounds',
      { orders: [{ amount: '1', amount_min: '1' }] },
      'all',
      true,
      'unknown',
    ],
    [
      'of reversed bounds',
      { orders: [{ amount_min: '2', amount_max: '1' }] },
      'all',
      true,
      'unknown',
    ],
    ['of one bound', { orders: [{ amount_min: '2' }] }, 'all', true, 'unknown'],
  ])('gives the verdict on an order that is %s', (_, books, ask, hasMarks, verdict) => {
    expect(judgeByBooks(booksOf(books), ask, hasMarks)?.verdict).toBe(verdict);
  });

  it.each(['all', 'undecided', 'none'] as const)(
    'never judges an order right, with --ask %s',
    (ask) => {
      for (const credits of [[], credit, [...credit, ...credit]]) {
        for (const marked of [true, false]) {
          for (const hasMarks of [true, false]) {
            expect(
              judgeByBooks(booksOf({ orders: order, credits, marked }), ask, hasMarks)?.verdict,
            ).not.toBe('right');
          }
        }
      }
    },
  );
});
