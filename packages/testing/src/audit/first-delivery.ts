/**
 * Sends a genuine delivery first: if the receiver refuses it, a later refusal proves nothing.
 */
import type { WireAnswer } from '../wire.js';
import { attacks } from '../attacks/index.js';
import { ACKNOWLEDGED, UNKNOWN_SECRET } from '../attacks/attack.js';
import { isAcknowledged, orClosed, statusOf, type AuditSession } from './session.js';
import { probeOf } from './probe.js';
import type { AuditResult, AuditStop } from './report.js';

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
  url: URL,
  milliseconds: number,
): Promise<FirstDelivery> {
  const started = performance.now();
  const left = (): number =>
    Math.max(VARIANT_TIME, Math.round(started + milliseconds - performance.now()));
  let answer: WireAnswer;
  try {
    await session.reach(milliseconds);
    answer = await session.firstAnswer(left());
  } catch (error) {
    throw connectionError(error, url);
  }
  session.throwIfEnded();
  if (typeof answer !== 'string')
    session.replies.push({ to: 'H03 acknowledges a genuine delivery', reply: answer });
  const passed = isAcknowledged(answer);
  const durationMs = Math.round(performance.now() - started);
  const result = (stop?: AuditStop): AuditResult => ({
    id: 'H03',
    name: 'H03 acknowledges a genuine delivery',
    what: 'a genuine delivery',
    title: passed ? 'acknowledged a genuine delivery' : titleOn(answer),
    passed,
    expected: ACKNOWLEDGED,
    actual: statusOf(answer),
    ...(passed ? {} : { severity: 'high' as const, cause: 'not_acknowledged' as const }),
    ...(statusOf(answer) === 202 ? { note: EARLY } : {}),
    advice: stop?.message ?? 'The receiver works as it should.',
    durationMs,
  });
  if (passed) return { results: [result()] };
  const [others, forged] = await Promise.all([
    acceptedVariants(session, left()),
    forgedAnswer(session, left()),
  ]);
  session.throwIfEnded();
  const stop = stopOn(answer, forged, milliseconds);
  return { results: [result(stop), ...others], stop };
}

/** A note, not a finding: a durable queue may answer 202, and only credits show a loss. */
const EARLY =
  'answered 202 to a genuine delivery: 202 is right only if the event survives a crash ' +
  'until its credit';

function titleOn(answer: WireAnswer): string {
  const status = statusOf(answer);
  if (status === undefined)
    return answer === 'closed'
      ? 'closed the connection on a genuine delivery'
      : 'gave no answer to a genuine delivery';
  return `refused a genuine delivery (${status})`;
}

/** @param forged the answer to a forged delivery. With a wrong secret, both answers are the same */
function stopOn(answer: WireAnswer, forged: WireAnswer, milliseconds: number): AuditStop {
  const status = statusOf(answer);
  const stop = (reason: AuditStop['reason'], message: string): AuditStop => ({ reason, message });
  if (status === undefined) {
    const hint = "check the receiver's address, and look for code that reads the body first.";
    if (answer === 'closed')
      return stop('no_answer', `The server gave no answer and closed the connection: ${hint}`);
    const seconds = Number((milliseconds / 1_000).toFixed(1));
    return stop(
      'no_answer',
      `The server accepted the connection and gave no answer in ${seconds} s: ${hint} If the ` +
        'server compiles at its first request, run the audit again.',
    );
  }
  if (status < 400)
    return stop(
      'refused',
      'Neither the audit nor the service follows redirects: use the target address.',
    );
  if (status === 401 || status === 403) {
    return stop(
      'wrong_secret',
      'The receiver refused a genuine delivery. Compare the secrets and the header names ' +
        'on both sides, and verify the raw bytes.',
    );
  }
  if (status === 429) {
    return stop(
      'refused',
      'The server has a rate limit (429): lift the limit, because the audit sends a few ' +
        'hundred requests.',
    );
  }
  if (status === 415) {
    return stop(
      'refused',
      'The server refused the type of a genuine delivery (415), application/json without a ' +
        'Content-Encoding: accept the raw body of every type.',
    );
  }
  if (status === 405) return stop('no_route', 'The path exists, but not for POST.');
  if (status === 404) {
    return stop(
      'no_route',
      'The path has no route for POST, or the receiver looks up orders and does not know ' +
        'the reference.',
    );
  }
  const body = typeof answer === 'string' ? '' : answer.body;
  if (body.includes('body_consumed')) {
    return stop(
      'refused',
      'A body parser read the body before the webhook (body_consumed): mount the webhook ' +
        'before the parser.',
    );
  }
  if (status === 503) {
    return stop(
      'unknown_reference',
      'The receiver asks for a retry (503): check that it knows the order, and that its ' +
        'store and the API answer.',
    );
  }
  if (status >= 500) return stop('refused', 'The receiver failed: read its log.');
  if (status === statusOf(forged)) {
    return stop(
      'wrong_secret',
      `The receiver refused a genuine delivery like a forged delivery (${status}). Compare ` +
        'the secrets and the header names on both sides, and verify the raw bytes. If they ' +
        'are right, check that the receiver knows the order.',
    );
  }
  return stop(
    'unknown_reference',
    'The receiver verified a genuine delivery, but refused it. Read its log, and check ' +
      'that it knows the order.',
  );
}

const VARIANTS: readonly string[] = [
  'a delivery without a signature',
  'a signature of zeros',
  'a signature made with another secret',
  'a signature made with an empty secret',
  'a pretty-printed body that was made compact in transit',
];

async function forgedAnswer(session: AuditSession, milliseconds: number): Promise<WireAnswer> {
  const { material, request, genuineLines } = session;
  const [type, event] = genuineLines();
  const forged = [material.names.signature, material.mac(material.body, UNKNOWN_SECRET)] as const;
  const bytes = request([type!, event!, forged], material.body);
  return orClosed(session.exchangeWithin(milliseconds, bytes));
}

/** Tries variants of a refused genuine delivery, and returns a finding for each accepted one. */
async function acceptedVariants(
  session: AuditSession,
  milliseconds: number,
): Promise<AuditResult[]> {
  const { secret, reference, names } = session.material;
  const kit = attacks({ secret, reference, headers: names });
  const variants = [
    ...kit.filter(({ what }) => VARIANTS.includes(what)),
    ...kit.filter(({ id }) => id === 'B04' || id === 'B07'),
  ];
  const results = await Promise.all(
    variants.map(async (attack): Promise<AuditResult | undefined> => {
      const probe = probeOf(attack);
      const { headers, rawBody } = attack.delivery;
      const bytes = session.request(Object.entries(headers), rawBody);
      const answer = await orClosed(session.exchangeWithin(milliseconds, bytes));
      if (!isAcknowledged(answer)) return undefined;
      const { id, name, what, expected, severity, fault, advice } = probe;
      const actual = statusOf(answer);
      return {
        id,
        name,
        what,
        title: `accepted ${what}`,
        passed: false,
        expected,
        actual,
        severity,
        cause: fault,
        advice,
        durationMs: 0,
      };
    }),
  );
  return results.filter((result) => result !== undefined);
}

function connectionError(error: unknown, url: URL): unknown {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string') return error;
  return new Error(`no connection to ${url.origin} (${code}): ${hintOn(code)}`, { cause: error });
}

function hintOn(code: string): string {
  if (code === 'ECONNREFUSED')
    return 'nothing listens there. Check that the receiver runs on this port.';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'the host does not exist. Check its spelling.';
  if (code === 'ETIMEDOUT') return 'the host does not answer. Check for a firewall in between.';
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code)) {
    return (
      'its certificate is not trusted. For your own certificate, set NODE_EXTRA_CA_CERTS to ' +
      'its authority.'
    );
  }
  if (/SSL|EPROTO|TLS/.test(code))
    return 'the server does not speak TLS. Use http:// instead of https://.';
  return "check the receiver's address, and http:// or https://.";
}
