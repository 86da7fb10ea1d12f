/** Judges a receiver by its credits in the merchant's own books. */
import { randomBytes } from 'node:crypto';
import type { WireAnswer } from '../wire.js';
import type { CauseId } from './cause.js';
import { SETTLE } from './options.js';
import { LIMITED, type AuditStop } from './report.js';
import { resultOf, type AuditResult } from './result.js';
import {
  isAcknowledged,
  isLimited,
  orClosed,
  PATIENCE,
  statusOf,
  type AuditSession,
} from './session.js';

/** Counts the credits of an order. @throws TypeError if `credits` does not return a number */
export type Books = (reference: string) => Promise<number>;

export function booksOf(credits: (reference: string) => Promise<number> | number): Books {
  return async (reference) => {
    const number = await credits(reference);
    if (Number.isSafeInteger(number) && number >= 0) return number;
    const returned = String(number);
    throw new TypeError(
      `credits must return a whole number of at least 0, but returned ${returned}`,
    );
  };
}

/** References that a careless receiver derives from a body without a usable reference. */
const NONSENSE = ['undefined', 'null', '42', '[object Object]', 'NaN', 'a'];

interface Circumstances {
  readonly session: AuditSession;
  readonly books: Books;
  /** Further orders that may be credited. */
  readonly references: readonly string[];
  /** The credits of the audit's order before the first delivery. */
  readonly before: number;
  /** Milliseconds until a credit counts as missing. */
  readonly settle: number;
  readonly onResult: (result: AuditResult) => AuditResult;
}

/** The judgements without an order, and the reason if the audit cannot continue. */
export interface CreditJudgement {
  readonly notJudged: readonly string[];
  readonly stop?: AuditStop;
}

/** Runs after the receiver acknowledged the first genuine delivery. */
export async function judgeCredits(circumstances: Circumstances): Promise<CreditJudgement> {
  const judge = new CreditJudge(circumstances);
  const stop = await judge.judgeFirstDelivery();
  if (stop !== undefined) return { notJudged: judge.notJudged, stop };
  await judge.judgeReplays();
  await judge.judgeUnknownOrder();
  await judge.judgeRace();
  await judge.judgeLostReply();
  await judge.judgeTwoBodies();
  await judge.judgeUnpaidEvents();
  return { notJudged: judge.notJudged };
}

/** An order of the audit, and its credits since the start of its judgement. */
interface FreshOrder {
  readonly body: (more?: object) => Buffer;
  /** Counts until `isThere`, at most for the time to settle. */
  readonly credits: (
    isThere: (count: number) => boolean,
    limits?: Partial<Limits>,
  ) => Promise<number>;
}

const more = (than: number) => (count: number) => count > than;

class CreditJudge {
  readonly notJudged: string[] = [];
  readonly #at: Circumstances;
  readonly #nonce = randomBytes(4).toString('hex');
  readonly #spare: string[];
  /** True if the receiver credits an order that does not exist. */
  #takesAny = false;
  #isLimited = false;

  constructor(circumstances: Circumstances) {
    this.#at = circumstances;
    this.#spare = [...circumstances.references];
  }

  async judgeFirstDelivery(): Promise<AuditStop | undefined> {
    const { session, before, settle } = this.#at;
    const after = await this.#count(session.material.reference, more(before));
    if (before === 0 && after === 0) {
      this.#add('H10', 'the first delivery', 'loses_credit', NOT_CREDITED);
      const message =
        'The receiver acknowledged the genuine delivery, but did not credit the order. Check ' +
        'that the order may be credited, and that credits counts its credits. If the receiver ' +
        `credits later than ${settle} ms after its answer, allow more time to settle.`;
      return { reason: 'unknown_reference', message };
    }
    if (before > 0)
      this.notJudged.push('the first credit: the receiver credited the order before the audit');
    this.#add('H03', 'the first delivery', 'no_memory', timesOverOne(after - before));
    return undefined;
  }

  async judgeReplays(): Promise<void> {
    const { session, books } = this.#at;
    const { reference } = session.material;
    const start = await books(reference);
    const replays: WireAnswer[] = [];
    for (let time = 0; time < 5; time++) replays.push(await session.serves());
    const times = (await this.#count(reference, more(start))) - start;
    const fault = times > 0 ? `credited ${times} more times` : undefined;
    this.#add('H01', 'a delivery and 5 replays', 'no_memory', fault, replays);
  }

  async judgeUnknownOrder(): Promise<void> {
    const { session } = this.#at;
    const unknown = `${session.material.reference}-unknown-${this.#nonce}`;
    const answer = await session.serves(bodyOf(unknown));
    const times = await this.#count(unknown, more(0));
    this.#takesAny = times > 0;
    this.#isLimited = isLimited(answer);
    const fault = times > 0 ? `credited ${times} times` : undefined;
    this.#add('H10', 'an unknown order', 'credits_unknown', fault, [answer]);
    const isLost = times === 0 && isAcknowledged(answer);
    const loss = isLost ? `answered ${statusOf(answer)!} and did not credit` : undefined;
    this.#add('H07', 'an unknown order', 'loses_unknown', loss, [answer]);
  }

  async judgeRace(): Promise<void> {
    const order = await this.#fresh('race', 'concurrent duplicates');
    if (order === undefined) return;
    const { session } = this.#at;
    const bytes = session.request(session.genuineLines(order.body()), order.body());
    const send = (): Promise<WireAnswer> => orClosed(session.exchangeWithin(PATIENCE, bytes));
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const last = await session.serves(order.body());
    const count = await order.credits(more(1));
    const what = '20 concurrent duplicates';
    this.#add('H02', what, 'not_atomic', timesOverOne(count), [...answers, last]);
    this.#add('H02', what, 'loses_credit', lossOf(count, last), [last]);
  }

  async judgeLostReply(): Promise<void> {
    const order = await this.#fresh('lost', 'a retry after a lost reply');
    if (order === undefined) return;
    const { session } = this.#at;
    const wire = await session.open();
    await wire.write(session.request(session.genuineLines(order.body()), order.body()));
    wire.reset();
    // Waits for the credit, because a retry during the first delivery would test a race.
    await order.credits(more(0), { asks: 10 });
    const last = await session.serves(order.body());
    const count = await order.credits(more(1));
    const what = 'a retry after a lost reply';
    this.#add('H03', what, 'no_memory', timesOverOne(count), [last]);
    this.#add('G07', what, 'loses_credit', lossOf(count, last), [last]);
  }

  async judgeTwoBodies(): Promise<void> {
    const judged = 'two bodies with one reference, and an amount in the body';
    const order = await this.#fresh('bodies', judged);
    if (order === undefined) return;
    const { serves } = this.#at.session;
    const first = await serves(order.body({ amount: 1, currency: 'XOF' }));
    const last = await serves(order.body());
    const count = await order.credits(more(1));
    const answers = [first, last];
    this.#add('H04', 'two bodies with one reference', 'key_by_body', timesOverOne(count), answers);
    this.#add('C23', 'a body with an amount', 'loses_credit', lossOf(count, last), answers);
  }

  async judgeUnpaidEvents(): Promise<void> {
    const order = await this.#fresh('unpaid', 'events without a payment');
    if (order === undefined) return;
    const { session, settle } = this.#at;
    // The five events share the default time, unless the receiver credits late.
    const milliseconds = settle > SETTLE ? settle : 150;
    let known = 0;
    for (const [id, what, event, fields] of UNPAID_EVENTS) {
      const body = order.body(fields);
      const [type, , signature] = session.genuineLines(body);
      const kind = event === undefined ? [] : [[session.material.names.event, event] as const];
      const bytes = session.request([type!, ...kind, signature!], body);
      const got = await orClosed(session.exchangePatiently(bytes));
      const count = await order.credits(more(known), { milliseconds });
      this.#add(id, what, 'credits_unpaid', count > known ? 'credited' : undefined, [got]);
      known = count;
    }
    if (known > 0) return;
    const last = await session.serves(order.body());
    const loss = lossOf(await order.credits(more(0)), last);
    this.#add('H07', 'a success after a failure', 'loses_credit', loss, [last]);
  }

  /** Returns an order that no delivery has named. Undefined if there is none. */
  async #fresh(purpose: string, judged: string): Promise<FreshOrder | undefined> {
    const { books, session } = this.#at;
    const named = `${session.material.reference}-${purpose}-${this.#nonce}`;
    const reference = this.#takesAny ? named : this.#spare.shift();
    if (reference === undefined) {
      const reason = this.#isLimited ? LIMITED : 'the receiver looks up orders';
      this.notJudged.push(`${judged}: ${reason}, and the audit has no further order`);
      return undefined;
    }
    const start = await books(reference);
    return {
      body: (fields) => bodyOf(reference, fields),
      credits: async (isThere, limits) =>
        (await this.#count(reference, (count) => isThere(count - start), limits)) - start,
    };
  }

  /** Reads the count until it is the expected one or the time is over. */
  async #count(
    reference: string,
    isThere: (count: number) => boolean,
    { milliseconds = this.#at.settle, asks = 1 }: Partial<Limits> = {},
  ): Promise<number> {
    const began = performance.now();
    for (let asked = 1; ; asked++) {
      const isLast = performance.now() - began >= milliseconds && asked >= asks;
      const count = await this.#at.books(reference);
      if (isThere(count) || isLast) return count;
      await this.#at.session.wait(50);
    }
  }

  /** @param answers the answers to the deliveries. After a 429, credits show nothing */
  #add(
    id: string,
    what: string,
    cause: CauseId,
    fault: string | undefined,
    answers: readonly WireAnswer[] = [],
  ): void {
    const found = fault === undefined ? undefined : { title: `${what}: ${fault}` };
    const result = { ...resultOf(id, rightBehaviour(what, cause), cause, found), what };
    const isSkipped = fault === undefined && answers.some(isLimited);
    this.#at.onResult(isSkipped ? { ...result, skipped: LIMITED } : result);
  }
}

const UNPAID_EVENTS: readonly (readonly [
  id: string,
  what: string,
  event: string | undefined,
  fields?: object,
])[] = [
  ['E04', 'an event of an unknown kind', 'payment.audited'],
  ['E04', 'payment.failed', 'payment.failed'],
  ['E01', 'a delivery without an event header', undefined],
  ['C24', 'a body that says failed', 'payment.succeeded', { status: 'failed' }],
  ['C24', 'a body that says cancelled', 'payment.succeeded', { status: 'cancelled' }],
];

/** Counts the credits of impossible orders. Call the returned function to count them again. */
export async function watchNonsense(books: Books): Promise<() => Promise<AuditResult[]>> {
  const count = (): Promise<number[]> => Promise.all(NONSENSE.map(books));
  const before = await count();
  return async () => {
    const after = await count();
    const credited = NONSENSE.filter((_, index) => after[index]! > before[index]!);
    const what = 'bodies without a usable reference';
    const names = credited.map((reference) => `"${reference}"`).join(', ');
    const fault = credited.length === 0 ? undefined : { title: `${what}: credited ${names}` };
    return [{ ...resultOf('C15', `does not credit ${what}`, 'credits_nonsense', fault), what }];
  };
}

const NOT_CREDITED = 'acknowledged but not credited';

const bodyOf = (reference: string, fields = {}): Buffer =>
  Buffer.from(JSON.stringify({ reference, ...fields }));

function lossOf(count: number, last: WireAnswer): string | undefined {
  return count === 0 && isAcknowledged(last) ? NOT_CREDITED : undefined;
}

function timesOverOne(count: number): string | undefined {
  return count > 1 ? `credited ${count} times` : undefined;
}

interface Limits {
  readonly milliseconds: number;
  /** The minimum number of reads, because a slow machine delays the receiver too. */
  readonly asks: number;
}

function rightBehaviour(what: string, cause: CauseId): string {
  if (cause === 'loses_unknown') return `does not acknowledge ${what}`;
  if (cause.startsWith('credits_')) return `does not credit ${what}`;
  return cause === 'loses_credit' ? `credits ${what}` : `credits ${what} once`;
}
