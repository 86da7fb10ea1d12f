/**
 * Sends a genuine delivery first: if the receiver refuses it, a later refusal proves nothing.
 */
import { ACKNOWLEDGED, acknowledges, type WireAnswer } from '@paylink/testing/internal';
import { attacks } from '@paylink/testing';
import { titleOf } from './attempt.js';
import { isAcknowledged, orClosed, statusOf, type AuditSession } from './session.js';
import { probeOf } from './probe.js';
import type { AuditStop } from './report.js';
import type { AuditResult } from './result.js';
import texts from './texts.json';

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
    throw connectionError(error, session.url);
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
    durationMs: Math.round(performance.now() - started),
  };
  if (passed) return { results: [result] };
  const variants = await sendVariants(session, left());
  session.throwIfEnded();
  const forged = variants.find(({ what }) => what === FORGED)?.actual;
  const accepted = variants.filter(({ actual: status }) => acknowledges(status));
  return { results: [result, ...accepted], stop: stopOn(answer, forged, milliseconds) };
}

/** A note, not a finding: a durable queue may answer 202, and only credits show a loss. */
const EARLY =
  'answered 202 to a genuine delivery: 202 is right only if the event survives a crash ' +
  'until its credit';

/** @param forged the status for a forged delivery. With a wrong secret, both statuses are equal */
function stopOn(answer: WireAnswer, forged: number | undefined, milliseconds: number): AuditStop {
  const [reason, text] = stopOf(answer, statusOf(answer), forged);
  const message = texts.stops[text]
    .replace('{seconds}', String(Number((milliseconds / 1_000).toFixed(1))))
    .replace('{status}', String(statusOf(answer)));
  return { reason, message };
}

type Stop = readonly [AuditStop['reason'], keyof typeof texts.stops];

const STOPS: Readonly<Record<number, Stop>> = {
  401: ['wrong_secret', 'secret'],
  403: ['wrong_secret', 'secret'],
  404: ['no_route', 'route'],
  405: ['no_route', 'method'],
  415: ['refused', 'type'],
  429: ['refused', 'limited'],
};

function stopOf(answer: WireAnswer, status: number | undefined, forged: number | undefined): Stop {
  if (typeof answer === 'string' || status === undefined)
    return ['no_answer', answer === 'closed' ? 'closed' : 'silent'];
  if (status < 400) return ['refused', 'redirect'];
  const known = STOPS[status];
  if (known !== undefined) return known;
  if (answer.body.includes('body_consumed')) return ['refused', 'consumed'];
  if (status === 503) return ['unknown_reference', 'retry'];
  if (status >= 500) return ['refused', 'failed'];
  return status === forged ? ['wrong_secret', 'likeForged'] : ['unknown_reference', 'order'];
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
      const finding = { passed: false, severity, cause, durationMs: 0 };
      return { id, name, what, title, expected, actual, ...finding };
    }),
  );
}

function connectionError(error: unknown, url: URL): unknown {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string') return error;
  return new Error(`no connection to ${url.origin} (${code}): ${hintOn(code)}`, { cause: error });
}

function hintOn(code: string): string {
  const hints: Partial<Record<string, string>> = texts.connections;
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code)) return hints['certificate']!;
  if (/SSL|EPROTO|TLS/.test(code)) return hints['tls']!;
  return hints[code] ?? hints['other']!;
}
