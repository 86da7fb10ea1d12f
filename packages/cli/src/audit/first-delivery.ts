/**
 * Sends a genuine delivery first: if the receiver refuses it, a later refusal proves nothing.
 */
import {
  ACKNOWLEDGED,
  acknowledges,
  type WireAnswer,
  type WireReply,
} from '@paylink/testing/internal';
import { attacks } from '@paylink/testing';
import { adviceFor, REJECTED } from '../receiver/answer-advice.js';
import { explainNoAnswer } from '../receiver/post.js';
import { ADVICE_BY_CODE } from '../receiver/reply-codes.js';
import { codeOf, describeReply } from '../receiver/reply.js';
import { titleOf } from './attempt.js';
import { isAcknowledged, orClosed, statusOf, type AuditSession } from './session.js';
import { probeOf } from './probe.js';
import type { AuditStop } from './report.js';
import type { AuditResult } from './result.js';

const NAME = 'H03 acknowledges a genuine delivery';
const DELIVERY = {
  what: 'a genuine delivery',
  category: 'genuine',
  fault: 'not_acknowledged',
} as const;

export interface FirstDelivery {
  readonly results: readonly AuditResult[];
  /** The reason if the audit cannot continue. */
  readonly stop?: AuditStop;
}

/** The minimum milliseconds for each variant of a refused delivery. */
const VARIANT_TIME = 400;

/**
 * @param milliseconds the limit for the connection and the answer
 * @throws Error without a connection to the server
 */
export async function deliverFirst(
  session: AuditSession,
  milliseconds: number,
): Promise<FirstDelivery> {
  const started = performance.now();
  const left = (): number =>
    Math.max(VARIANT_TIME, Math.round(started + milliseconds - performance.now()));
  let answer: WireAnswer;
  try {
    (await session.open(milliseconds)).destroy();
    answer = await session.firstAnswer(left());
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException | null)?.code !== 'string') throw error;
    const reason = explainNoAnswer(error, session.url);
    throw new Error(`no connection to ${session.url.origin}: ${reason}`, { cause: error });
  }
  session.throwIfEnded();
  if (typeof answer !== 'string') session.replies.push({ to: NAME, reply: answer });
  const passed = isAcknowledged(answer);
  const actual = statusOf(answer);
  const result: AuditResult = {
    id: 'H03',
    name: NAME,
    what: DELIVERY.what,
    title: passed ? 'acknowledged a genuine delivery' : titleOf(DELIVERY, answer),
    passed,
    expected: ACKNOWLEDGED,
    actual,
    ...(passed ? {} : { severity: 'high', cause: DELIVERY.fault }),
    ...(actual === 202 ? { note: EARLY } : {}),
  };
  if (passed) return { results: [result] };
  const variants = await sendVariants(session, left());
  session.throwIfEnded();
  const forged = variants.find(({ what }) => what === FORGED)?.actual;
  const accepted = variants.filter(({ actual: status }) => acknowledges(status));
  const stop =
    typeof answer === 'string'
      ? stopOnSilence(answer, milliseconds)
      : stopOnRefusal(answer, forged, session);
  return { results: [result, ...accepted], stop };
}

/** A note, not a finding: a durable queue may answer 202, and only credits show a loss. */
const EARLY =
  'answered 202 to a genuine delivery: 202 is right only if the event survives a crash ' +
  'until its credit';

/** @param forged the status for a forged delivery. With a wrong secret, both statuses are equal */
function stopOnRefusal(
  answer: WireReply,
  forged: number | undefined,
  { url, material }: AuditSession,
): AuditStop {
  const reply = { ...answer, headers: hideIn(answer.headers, material) };
  const advice = adviceFor(reply, url)!;
  const isLikeForged = advice === REJECTED && reply.status === forged;
  const fix = isLikeForged
    ? `Forged ones get it too. ${ADVICE_BY_CODE['invalid_signature']!}`
    : advice;
  const mayLackOrder = codeOf(reply) === undefined && !BEFORE_ORDERS.test(String(reply.status));
  const orders = mayLackOrder ? ` ${ORDERS}` : '';
  const message = `A genuine delivery got ${describeReply(reply)}. ${fix}${orders}`;
  return { reason: 'refused', message };
}

/** The statuses of servers that have not looked up an order yet. */
const BEFORE_ORDERS = /^(3..|401|403|405|415|429)$/;
const ORDERS = 'If the receiver looks up orders, pass an existing one with --reference.';

/** A server can send the secret or the signature back. Messages show only the start of a header. */
function hideIn(
  headers: WireReply['headers'],
  { secret, signature }: AuditSession['material'],
): Record<string, string> {
  const own = Buffer.from(secret).toString('latin1');
  const sent = new RegExp(signature, 'gi');
  const hide = (value: string): string =>
    value.replaceAll(own, '[hidden]').replace(sent, '[hidden]');
  return Object.fromEntries(Array.from(headers, ([name, value]) => [name, hide(value)]));
}

function stopOnSilence(answer: string, milliseconds: number): AuditStop {
  const seen =
    answer === 'closed'
      ? 'The server closed the connection without a reply'
      : 'The server accepted the connection but did not reply within ' +
        `${Number((milliseconds / 1_000).toFixed(1))} s`;
  const fix =
    "check the receiver's address, and look for code that reads the body first. If the server " +
    'compiles on its first request, run the audit again.';
  return { reason: 'no_answer', message: `${seen}: ${fix}` };
}

const FORGED = 'a signature made with another secret';
const VARIANTS: readonly string[] = [
  'a delivery without a signature',
  'a signature of zeros',
  FORGED,
  'a signature made with an empty secret',
  'a pretty-printed body that was made compact in transit',
];

/** Sends variants of a refused genuine delivery. Returns a finding for each, accepted or not. */
async function sendVariants(session: AuditSession, milliseconds: number): Promise<AuditResult[]> {
  const { secret, reference } = session.material;
  const variants = attacks({ secret, reference }).filter(
    ({ id, what }) => VARIANTS.includes(what) || id === 'B04' || id === 'B07',
  );
  return Promise.all(
    variants.map(async (attack): Promise<AuditResult> => {
      const { id, name, what, expected, severity, fault: cause } = probeOf(attack);
      const { headers, rawBody } = attack.delivery;
      const bytes = session.request(Object.entries(headers), rawBody);
      const answer = await orClosed(session.exchangeWithin(milliseconds, bytes));
      const [title, actual] = [`accepted ${what}`, statusOf(answer)];
      return { id, name, what, title, expected, actual, passed: false, severity, cause };
    }),
  );
}
