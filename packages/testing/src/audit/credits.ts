/** Judges a receiver by its credits in the merchant's own books. */
import { randomBytes } from 'node:crypto';
import type { WireAnswer } from '../wire.js';
import { CAUSES, type CauseId } from './causes.js';
import {
  isAcknowledged,
  isLimited,
  orClosed,
  PATIENCE,
  statusOf,
  type AuditSession,
} from './session.js';
import { SETTLE } from './options.js';
import { LIMITED, type AuditResult, type AuditStop } from './report.js';

export interface Books {
  /** Counts the credits of an order. @throws TypeError if `credits` does not return a number */
  count(reference: string): Promise<number>;
}

export function booksOf(credits: (reference: string) => Promise<number> | number): Books {
  return {
    async count(reference) {
      const number = await credits(reference);
      if (!Number.isSafeInteger(number) || number < 0) {
        throw new TypeError(
          `credits must return a whole number of at least 0, but returned ${String(number)}`,
        );
      }
      return number;
    },
  };
}

/** References that a careless receiver derives from a body without a usable reference. */
const NONSENSE = ['undefined', 'null', '42', '[object Object]', 'NaN', 'a'];

export interface CreditJudgement {
  readonly results: AuditResult[];
  readonly notJudged: string[];
  readonly stop?: AuditStop;
}

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

/** Runs after the receiver acknowledged the first genuine delivery. */
export async function judgeCredits(circumstances: Circumstances): Promise<CreditJudgement> {
  const { session, books, references, before, settle, onResult } = circumstances;
  const { material, serves } = session;
  const results: AuditResult[] = [];
  const notJudged: string[] = [];
  /** @param answers the answers to the deliveries. After a 429, credits show nothing */
  const add = (
    id: string,
    what: string,
    cause: CauseId,
    fault: string | undefined,
    answers?: readonly WireAnswer[],
  ) => void results.push(onResult(resultOf(id, what, cause, fault, answers)));
  const settledOn = (
    reference: string,
    isThere: (count: number) => boolean,
    limits: Partial<Limits> = {},
  ): Promise<number> =>
    settled(session, () => books.count(reference), isThere, {
      milliseconds: settle,
      asks: 1,
      ...limits,
    });
  const bodyOf = (reference: string, more = {}): Buffer =>
    Buffer.from(JSON.stringify({ reference, ...more }));

  const after = await settledOn(material.reference, (count) => count > before);
  if (before === 0 && after === 0) {
    add('H10', 'the first delivery', 'loses_credit', NOT_CREDITED);
    const message =
      'The receiver acknowledged the genuine delivery, but did not credit the order. Check ' +
      'that the order may be credited, and that credits counts its credits. If the receiver ' +
      `credits later than ${settle} ms after its answer, allow more time to settle.`;
    return { results, notJudged, stop: { reason: 'unknown_reference', message } };
  }
  if (before > 0)
    notJudged.push('the first credit: the receiver credited the order before the audit');
  add('H03', 'the first delivery', 'no_memory', timesOverOne(after - before));

  const repeated = Math.max(after, before);
  const replays: WireAnswer[] = [];
  for (let time = 0; time < 5; time++) replays.push(await serves());
  const replayed = await settledOn(material.reference, (count) => count > repeated);
  add(
    'H01',
    'a delivery and 5 replays',
    'no_memory',
    replayed > repeated ? `credited ${replayed - repeated} more times` : undefined,
    replays,
  );

  const nonce = randomBytes(4).toString('hex');
  const unknown = `${material.reference}-unknown-${nonce}`;
  const answer = await serves(bodyOf(unknown));
  const forUnknown = await settledOn(unknown, (count) => count > 0);
  const takesAny = forUnknown > 0;
  add(
    'H10',
    'an unknown order',
    'credits_unknown',
    takesAny ? `credited ${forUnknown} times` : undefined,
    [answer],
  );
  const isLost = !takesAny && isAcknowledged(answer);
  const loss = isLost ? `answered ${statusOf(answer)!} and did not credit` : undefined;
  add('H07', 'an unknown order', 'loses_unknown', loss, [answer]);

  const spare = [...references];
  const fresh = (purpose: string, judged: string): string | undefined => {
    const reference = takesAny ? `${material.reference}-${purpose}-${nonce}` : spare.shift();
    if (reference === undefined) {
      const reason = isLimited(answer) ? LIMITED : 'the receiver looks up orders';
      notJudged.push(`${judged}: ${reason}, and the audit has no further order`);
    }
    return reference;
  };

  const raced = fresh('race', 'concurrent duplicates');
  if (raced !== undefined) {
    const start = await books.count(raced);
    const body = bodyOf(raced);
    const bytes = session.request(session.genuineLines(body), body);
    const send = (): Promise<WireAnswer> => orClosed(session.exchangeWithin(PATIENCE, bytes));
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const last = await serves(body);
    const count = (await settledOn(raced, (now) => now > start + 1)) - start;
    add('H02', '20 concurrent duplicates', 'not_atomic', timesOverOne(count), [...answers, last]);
    add('H02', '20 concurrent duplicates', 'loses_credit', lossOf(count, last), [last]);
  }

  const lost = fresh('lost', 'a retry after a lost reply');
  if (lost !== undefined) {
    const start = await books.count(lost);
    const body = bodyOf(lost);
    const wire = await session.open();
    await wire.write(session.request(session.genuineLines(body), body));
    wire.reset();
    // Waits for the credit, because a retry during the first delivery would test a race.
    await settledOn(lost, (now) => now > start, { asks: 10 });
    const last = await serves(body);
    const count = (await settledOn(lost, (now) => now > start + 1)) - start;
    add('H03', 'a retry after a lost reply', 'no_memory', timesOverOne(count), [last]);
    add('G07', 'a retry after a lost reply', 'loses_credit', lossOf(count, last), [last]);
  }

  const twice = fresh('bodies', 'two bodies with one reference, and an amount in the body');
  if (twice !== undefined) {
    const start = await books.count(twice);
    const first = await serves(bodyOf(twice, { amount: 1, currency: 'XOF' }));
    const last = await serves(bodyOf(twice));
    const count = (await settledOn(twice, (now) => now > start + 1)) - start;
    add('H04', 'two bodies with one reference', 'key_by_body', timesOverOne(count), [first, last]);
    add('C23', 'a body with an amount', 'loses_credit', lossOf(count, last), [first, last]);
  }

  const unpaid = fresh('unpaid', 'events without a payment');
  if (unpaid !== undefined) {
    const start = await books.count(unpaid);
    const events: readonly (readonly [
      what: string,
      id: string,
      event: string | undefined,
      more: object,
    ])[] = [
      ['an event of an unknown kind', 'E04', 'payment.audited', {}],
      ['payment.failed', 'E04', 'payment.failed', {}],
      ['a delivery without an event header', 'E01', undefined, {}],
      ['a body that says failed', 'C24', 'payment.succeeded', { status: 'failed' }],
      ['a body that says cancelled', 'C24', 'payment.succeeded', { status: 'cancelled' }],
    ];
    // The five events share the default time, unless the receiver credits late.
    const unpaidSettle = settle > SETTLE ? settle : 150;
    let known = start;
    for (const [what, id, event, more] of events) {
      const body = bodyOf(unpaid, more);
      const [type, , signature] = session.genuineLines(body);
      const lines = [
        type!,
        ...(event === undefined ? [] : [[material.names.event, event] as const]),
        signature!,
      ];
      const got = await orClosed(session.exchangePatiently(session.request(lines, body)));
      const count = await settledOn(unpaid, (now) => now > known, { milliseconds: unpaidSettle });
      add(id, what, 'credits_unpaid', count > known ? 'credited' : undefined, [got]);
      known = count;
    }
    if (known === start) {
      const last = await serves(bodyOf(unpaid));
      const count = (await settledOn(unpaid, (now) => now > start)) - start;
      add('H07', 'a success after a failure', 'loses_credit', lossOf(count, last), [last]);
    }
  }
  return { results, notJudged };
}

/** Counts the credits of impossible orders. Call the returned function to count them again. */
export async function watchNonsense(books: Books): Promise<() => Promise<AuditResult[]>> {
  const count = (): Promise<number[]> =>
    Promise.all(NONSENSE.map((reference) => books.count(reference)));
  const before = await count();
  return async () => {
    const after = await count();
    const credited = NONSENSE.filter((_, index) => after[index]! > before[index]!);
    const fault =
      credited.length === 0
        ? undefined
        : `credited ${credited.map((reference) => `"${reference}"`).join(', ')}`;
    return [resultOf('C15', 'bodies without a usable reference', 'credits_nonsense', fault)];
  };
}

const NOT_CREDITED = 'acknowledged but not credited';

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

/** Reads the count until it is the expected one or the time is over. */
async function settled(
  { wait }: AuditSession,
  ask: () => Promise<number>,
  isThere: (count: number) => boolean,
  { milliseconds, asks }: Limits,
): Promise<number> {
  const began = performance.now();
  for (let asked = 1; ; asked++) {
    const isLast = performance.now() - began >= milliseconds && asked >= asks;
    const count = await ask();
    if (isThere(count) || isLast) return count;
    await wait(50);
  }
}

function resultOf(
  id: string,
  what: string,
  cause: CauseId,
  fault: string | undefined,
  answers: readonly WireAnswer[] = [],
): AuditResult {
  const { severity } = CAUSES[cause];
  const result = {
    id,
    name: `${id} ${rightBehaviour(what, cause)}`,
    what,
    expected: [],
    actual: undefined,
    durationMs: 0,
  };
  if (fault === undefined)
    return { ...result, passed: true, ...(answers.some(isLimited) ? { skipped: LIMITED } : {}) };
  return { ...result, passed: false, severity, cause, title: `${what}: ${fault}` };
}

function rightBehaviour(what: string, cause: CauseId): string {
  if (cause === 'loses_unknown') return `does not acknowledge ${what}`;
  if (cause.startsWith('credits_')) return `does not credit ${what}`;
  return cause === 'loses_credit' ? `credits ${what}` : `credits ${what} once`;
}
