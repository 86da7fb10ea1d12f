/**
 * Generates a merchant's books and the service's payments from a number, so that each order can be
 * recreated and none is stored.
 */
import type { Finding } from '../../src/prove/finding.js';
import type { Verdict } from '../../src/prove/judge.js';

export interface SyntheticPayment {
  readonly status: 'pending' | 'success' | 'failed' | 'cancelled';
  readonly amount: number;
  readonly currency: string;
}

/** Everything under one reference. */
export interface Story {
  readonly reference: string;
  /** Rows of amount, amount_min, amount_max. */
  readonly orders: readonly (readonly [amount: string, least?: string, most?: string])[];
  /** Rows of amount, by_hand. */
  readonly credits: readonly (readonly [amount: string, byHand?: string])[];
  readonly isMarked: boolean;
  /**
   * The service's payment. `error` makes the request fail, and undefined means an unknown payment.
   */
  readonly payment?: SyntheticPayment | 'error';
}

export interface Planted {
  readonly name: string;
  readonly finding: Finding['finding'];
  /** The verdict of the order, if it exists. */
  readonly verdict?: Verdict;
  readonly story: (reference: string, amount: number) => Story;
  /** Set if only the service's answer shows the fault. */
  readonly needsAnswer: boolean;
}

const success = (amount: number, currency = 'XOF'): SyntheticPayment => ({
  status: 'success',
  amount,
  currency,
});
const unpaid = (status: 'pending' | 'failed' | 'cancelled', amount: number): SyntheticPayment => ({
  status,
  amount,
  currency: 'XOF',
});

type Parts = Omit<Story, 'reference'>;

function planted(
  name: string,
  finding: Finding['finding'],
  needsAnswer: boolean,
  parts: (amount: number) => Parts,
): Planted {
  const isOfOrder = ![
    'reference_repeated',
    'credit_without_order',
    'mark_without_order',
    'input_fault',
  ].includes(finding);
  return {
    name,
    finding,
    needsAnswer,
    ...(isOfOrder ? { verdict: finding as Verdict } : {}),
    story: (reference, amount) => ({ reference, ...parts(amount) }),
  };
}

/** Every planted kind of fault. Each is one finding. */
export const FAULTS: readonly Planted[] = [
  planted('paid and never credited', 'lost', true, (a) => ({
    orders: [[`${a}`]],
    credits: [],
    isMarked: false,
    payment: success(a),
  })),
  planted('paid and marked, and not credited', 'lost', true, (a) => ({
    orders: [[`${a}`]],
    credits: [],
    isMarked: true,
    payment: success(a),
  })),
  planted('credited twice', 'doubled', false, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`], [`${a}`]],
    isMarked: true,
    payment: success(a),
  })),
  planted('credited by hand and by the webhook', 'doubled', false, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`], [`${a}`, 'true']],
    isMarked: true,
    payment: success(a),
  })),
  planted('credited while pending', 'credited_without_payment', true, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`]],
    isMarked: false,
    payment: unpaid('pending', a),
  })),
  planted('credited though failed', 'credited_without_payment', true, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`]],
    isMarked: false,
    payment: unpaid('failed', a),
  })),
  planted('credited though cancelled', 'credited_without_payment', true, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`]],
    isMarked: false,
    payment: unpaid('cancelled', a),
  })),
  planted('credited without a link', 'credited_without_payment', true, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`]],
    isMarked: false,
  })),
  planted('credited with another amount', 'amount_differs', false, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a + 1}`]],
    isMarked: true,
    payment: success(a),
  })),
  planted('paid with another amount, and credited', 'amount_differs', true, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`]],
    isMarked: false,
    payment: success(a - 1),
  })),
  planted('paid with another amount, and refused', 'amount_differs', true, (a) => ({
    orders: [[`${a}`]],
    credits: [],
    isMarked: false,
    payment: success(a * 100),
  })),
  planted('a free amount over its bounds', 'amount_differs', true, (a) => ({
    orders: [['', '100', `${a}`]],
    credits: [],
    isMarked: false,
    payment: success(a + 1),
  })),
  planted('marked, neither paid nor credited', 'unknown', true, (a) => ({
    orders: [[`${a}`]],
    credits: [],
    isMarked: true,
    payment: unpaid('pending', a),
  })),
  planted('an amount that is no whole number', 'unknown', false, (a) => ({
    orders: [[`${a}.50`]],
    credits: [],
    isMarked: false,
    payment: unpaid('pending', a),
  })),
  planted('a credit without an order', 'credit_without_order', false, (a) => ({
    orders: [],
    credits: [[`${a}`]],
    isMarked: true,
    payment: success(a),
  })),
  planted('a mark without an order', 'mark_without_order', false, (a) => ({
    orders: [],
    credits: [],
    isMarked: true,
    payment: success(a),
  })),
  planted('an order in two rows', 'reference_repeated', false, (a) => ({
    orders: [[`${a}`], [`${a}`]],
    credits: [[`${a}`]],
    isMarked: true,
    payment: success(a),
  })),
];

/** Faults that need a reader that can fail and report another currency. */
export const FAULTS_OF_THE_SERVICE: readonly Planted[] = [
  planted('the service fails for it', 'unknown', true, (a) => ({
    orders: [[`${a}`]],
    credits: [],
    isMarked: false,
    payment: 'error',
  })),
  planted('paid in another currency', 'amount_differs', true, (a) => ({
    orders: [[`${a}`]],
    credits: [[`${a}`]],
    isMarked: false,
    payment: success(a, 'EUR'),
  })),
];

export interface SyntheticBooks {
  readonly count: number;
  /** The planted faults by story number. */
  readonly planted: ReadonlyMap<number, Planted>;
  readonly story: (number: number) => Story;
}

/** Makes books of `count` references, `faults` of them faulty, with each kind in turn. */
export function makeBooks(
  count: number,
  faults: number,
  kinds: readonly Planted[],
): SyntheticBooks {
  const distance = Math.floor(count / faults);
  const planted = new Map(
    Array.from({ length: faults }, (_, at) => [
      at * distance + (at % distance),
      kinds[at % kinds.length]!,
    ]),
  );
  return {
    count,
    planted,
    story: (number) => {
      const reference = referenceOf(number);
      const amount = amountOf(number);
      const kind = planted.get(number);
      return kind === undefined
        ? { reference, ...sound(number, amount) }
        : kind.story(reference, amount);
    },
  };
}

/** Returns a reference that ends with the number, so that a reader finds the story. */
function referenceOf(number: number): string {
  const odd = [
    'commande n° ',
    '"quoted", ',
    'a;b\tc ',
    'line\nbreak ',
    "o'clock \\ ",
    '=1+1 ',
    '\u2028 ',
    '😀 ',
    '%2F/../ ',
    ' blank ',
  ];
  return number % 50 === 7
    ? `${odd[((number / 50) % odd.length) | 0]!}${number}`
    : `order-${number}`;
}

export function numberOf(reference: string): number {
  return Number(/\d+$/.exec(reference)![0]);
}

function amountOf(number: number): number {
  return 500 + ((number * 7_919) % 100_000);
}

/** Returns a story without a fault. */
function sound(number: number, amount: number): Parts {
  const orders = [[`${amount}`]] as const;
  switch (number % 20) {
    case 1:
      return { orders, credits: [], isMarked: false, payment: unpaid('pending', amount) };
    case 3:
      return { orders, credits: [], isMarked: false, payment: unpaid('cancelled', amount) };
    case 5:
      return { orders, credits: [], isMarked: false, payment: unpaid('failed', amount) };
    case 9:
      // The order never had a link.
      return { orders, credits: [], isMarked: false };
    case 11:
      return {
        orders,
        credits: [[`${amount}`, 'true']],
        isMarked: false,
        payment: unpaid('pending', amount),
      };
    case 13:
      return {
        orders: [['', '100', `${amount * 2}`]],
        credits: [[`${amount}`]],
        isMarked: true,
        payment: success(amount),
      };
    case 15:
      // Credited before marks existed, or its mark is forgotten.
      return { orders, credits: [[`${amount}`]], isMarked: false, payment: success(amount) };
    case 17:
      return { orders, credits: [['']], isMarked: true, payment: success(amount) };
    default:
      return { orders, credits: [[`${amount}`]], isMarked: true, payment: success(amount) };
  }
}

export interface Expectation {
  readonly orders: number;
  readonly verdicts: Record<Verdict, number>;
  /** References by finding. For a mark without an order, the reference of the mark. */
  readonly findings: ReadonlyMap<Finding['finding'], readonly string[]>;
}

/** Returns the expected report of a run that asks about every order. */
export function expectationOf({ count, planted, story }: SyntheticBooks): Expectation {
  const verdicts: Record<Verdict, number> = {
    right: 0,
    lost: 0,
    doubled: 0,
    credited_without_payment: 0,
    amount_differs: 0,
    unknown: 0,
    not_asked: 0,
  };
  const findings = new Map<Finding['finding'], string[]>();
  let strays = 0;
  for (const [number, { finding, verdict }] of planted) {
    const { reference, orders } = story(number);
    findings.set(finding, [...(findings.get(finding) ?? []), reference].sort());
    if (verdict !== undefined) verdicts[verdict]++;
    else if (orders.length === 0) strays++;
  }
  const orders = count - strays;
  verdicts.right = orders - Object.values(verdicts).reduce((sum, each) => sum + each, 0);
  return { orders, verdicts, findings };
}

export function csvCell(value: string): string {
  return /[",;\t\r\n]/.test(value) || value.trim() !== value
    ? `"${value.replaceAll('"', '""')}"`
    : value;
}
