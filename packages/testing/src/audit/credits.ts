/** Judges a receiver by its credits in the merchant's own books. */
import { randomBytes } from 'node:crypto';
import type { Severity } from '../attacks/attack.js';
import type { WireAnswer } from '../wire.js';
import { CAUSES, type CauseId } from './causes.js';
import { isAcknowledged, isLimited, PATIENCE, statusOf, type AuditSession } from './session.js';
import { SETTLE } from './options.js';
import { LIMITED, type AuditResult, type AuditStop } from './report.js';

export interface Books {
  /**
   * Counts the credits of an order. @throws Error if the merchant's side does not return a number
   */
  count(reference: string): Promise<number>;
}

export function booksOf(credits: (reference: string) => Promise<number> | number): Books {
  return {
    async count(reference) {
      const number = await credits(reference);
      if (!Number.isSafeInteger(number) || number < 0) {
        throw new TypeError(
          `credits must return an order's number of credits, a whole number from 0, but returned ` +
            String(number),
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
  /**
   * `answers` are the answers to the deliveries: credits prove nothing about a delivery that the
   * server refused unread.
   */
  const add = (
    id: string,
    what: string,
    cause: CauseId,
    fault: string | undefined,
    answers: readonly WireAnswer[] = [],
  ) =>
    void results.push(
      onResult(resultOf({ id, what, cause, fault, severity: CAUSES[cause].severity, answers })),
    );
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
    add('H10', 'the first delivery', 'loses_credit', 'acknowledged, and 0 credits afterwards');
    const message =
      'The receiver acknowledged the genuine delivery, but did not credit the order. ' +
      'Check that the reference is an order that may be credited, and that credits counts ' +
      'right.' +
      ` A receiver that credits later than ${settle} ms after its ` +
      'answer needs a longer time to settle.';
    return { results, notJudged, stop: { reason: 'unknown_reference', message } };
  }
  if (before > 0)
    notJudged.push('whether a first delivery is credited: the order was credited before the audit');
  add(
    'H03',
    'the first delivery',
    'no_memory',
    after - before > 1 ? `credited ${after - before} times` : undefined,
  );

  const repeated = Math.max(after, before);
  const replays: WireAnswer[] = [];
  for (let time = 0; time < 5; time++) replays.push(await serves());
  const replayed = await settledOn(material.reference, (count) => count > repeated);
  add(
    'H01',
    '5 replays',
    'no_memory',
    replayed > repeated ? `${replayed - repeated} more credits for 5 replays` : undefined,
    replays,
  );

  const nonce = randomBytes(4).toString('hex');
  const unknown = `${material.reference}-unknown-${nonce}`;
  const answer = await serves(bodyOf(unknown));
  const forUnknown = await settledOn(unknown, (count) => count > 0);
  const takesAny = forUnknown > 0;
  add(
    'H10',
    'an order that does not exist',
    'credits_unknown',
    takesAny ? `credited ${forUnknown} times` : undefined,
    [answer],
  );
  const isLost = !takesAny && isAcknowledged(answer);
  const loss = isLost ? `answered ${statusOf(answer)!} and did not credit` : undefined;
  add('H07', 'an order that does not exist', 'loses_unknown', loss, [answer]);

  const spare = [...references];
  const fresh = (purpose: string, whatIsJudged: string): string | undefined => {
    const reference = takesAny ? `${material.reference}-${purpose}-${nonce}` : spare.shift();
    if (reference === undefined) {
      const reason = isLimited(answer) ? LIMITED : 'the receiver looks its orders up';
      notJudged.push(`${whatIsJudged}: ${reason}, and no further order was named for it`);
    }
    return reference;
  };

  const raced = fresh('race', 'duplicates that arrive at once');
  if (raced !== undefined) {
    const start = await books.count(raced);
    const body = bodyOf(raced);
    const bytes = session.request(session.genuineLines(body), body);
    const send = (): Promise<WireAnswer> =>
      session.exchangeWithin(PATIENCE, bytes).catch((): WireAnswer => 'closed');
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const last = await serves(body);
    const count = (await settledOn(raced, (now) => now > start + 1)) - start;
    add(
      'H02',
      '20 duplicates at once',
      'not_atomic',
      count > 1 ? `credited ${count} times` : undefined,
      [...answers, last],
    );
    add('H02', '20 duplicates at once', 'loses_credit', lossOf(count, last), [last]);
  }

  const lost = fresh('lost', 'a retry after a lost reply');
  if (lost !== undefined) {
    const start = await books.count(lost);
    const body = bodyOf(lost);
    const wire = await session.open();
    await wire.write(session.request(session.genuineLines(body), body));
    wire.reset();
    // During a delivery that is still running, a retry would test a race instead of the receiver's
    // marks.
    await settledOn(lost, (now) => now > start, { asks: 10 });
    const last = await serves(body);
    const count = (await settledOn(lost, (now) => now > start + 1)) - start;
    add(
      'H03',
      'a retry after a lost reply',
      'no_memory',
      count > 1 ? `credited ${count} times` : undefined,
      [last],
    );
    add('G07', 'a retry after a lost reply', 'loses_credit', lossOf(count, last), [last]);
  }

  const twice = fresh('bodies', 'two bodies with one reference, and an amount in the body');
  if (twice !== undefined) {
    const start = await books.count(twice);
    const first = await serves(bodyOf(twice, { amount: 1, currency: 'XOF' }));
    const last = await serves(bodyOf(twice));
    const count = (await settledOn(twice, (now) => now > start + 1)) - start;
    add(
      'H04',
      'two bodies with one reference',
      'key_by_body',
      count > 1 ? `credited ${count} times` : undefined,
      [first, last],
    );
    add('C23', 'a body with an amount', 'loses_credit', lossOf(count, last), [first, last]);
  }

  const unpaid = fresh('unpaid', 'events that are not a payment');
  if (unpaid !== undefined) {
    const start = await books.count(unpaid);
    const sent: readonly (readonly [
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
    // All of them share the usual time, unless the receiver credits late.
    const unpaidSettle = settle > SETTLE ? settle : 150;
    let known = start;
    for (const [what, id, event, more] of sent) {
      const body = bodyOf(unpaid, more);
      const [type, , signature] = session.genuineLines(body);
      const lines = [
        type!,
        ...(event === undefined ? [] : [[material.names.event, event] as const]),
        signature!,
      ];
      const got = await session
        .exchangePatiently(session.request(lines, body))
        .catch((): WireAnswer => 'closed');
      const count = await settledOn(unpaid, (now) => now > known, { milliseconds: unpaidSettle });
      add(id, what, 'credits_unpaid', count > known ? `credited by ${what}` : undefined, [got]);
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

/**
 * Remembers the credits of impossible orders. The returned function compares them at the end of the
 * audit.
 */
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
    return [
      resultOf({
        id: 'C15',
        what: 'bodies without a usable reference',
        cause: 'credits_nonsense',
        fault,
        severity: 'critical',
      }),
    ];
  };
}

function lossOf(count: number, last: WireAnswer): string | undefined {
  return count === 0 && isAcknowledged(last) ? 'acknowledged, and 0 credits' : undefined;
}

interface Limits {
  readonly milliseconds: number;
  /** The least number of reads, because a receiver stalls if its machine stalls. */
  readonly asks: number;
}

/** Reads until the expected count appears or the time is over. */
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

interface Judged {
  readonly id: string;
  readonly what: string;
  readonly cause: CauseId;
  readonly fault: string | undefined;
  readonly severity: Severity;
  readonly answers?: readonly WireAnswer[];
}

function resultOf({ id, what, cause, fault, severity, answers = [] }: Judged): AuditResult {
  const result = {
    id,
    name: `${id} by its credits: ${what}, not "${CAUSES[cause].title}"`,
    what,
    expected: [],
    actual: undefined,
    advice: CAUSES[cause].fix as string,
    durationMs: 0,
  };
  if (fault === undefined)
    return { ...result, passed: true, ...(answers.some(isLimited) ? { skipped: LIMITED } : {}) };
  return { ...result, passed: false, severity, cause, title: `${what}: ${fault}` };
}
