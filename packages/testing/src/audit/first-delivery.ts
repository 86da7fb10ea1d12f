/**
 * Sends a genuine delivery first: without an acknowledgement, a later refusal would prove nothing.
 */
import type { WireAnswer } from '../wire.js';
import { attacks } from '../attacks/index.js';
import { ACKNOWLEDGED, UNKNOWN_SECRET, type Material } from '../attacks/attack.js';
import { isAcknowledged, statusOf, type AuditSession } from './session.js';
import { probeOf } from './probe.js';
import type { AuditResult, AuditStop } from './report.js';

export interface FirstDelivery {
  readonly results: readonly AuditResult[];
  /** The reason if the audit cannot continue. */
  readonly stop?: AuditStop;
}

/** The least milliseconds for each variant of a refused delivery. */
const WAY_IN = 400;

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
    Math.max(WAY_IN, Math.round(started + milliseconds - performance.now()));
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
    advice: stop?.message ?? 'Nothing to do.',
    durationMs,
  });
  if (passed) return { results: [result()] };
  const [others, forged] = await Promise.all([
    wayIn(session, left()),
    forgedAnswer(session, left()),
  ]);
  session.throwIfEnded();
  const stop = stopOn(answer, forged, milliseconds);
  return { results: [result(stop), ...others], stop };
}

/** A note, not a finding: a durable queue loses nothing, and only the credits show that. */
const EARLY =
  'answered 202 to a genuine delivery: that is right only if the event survives a crash ' +
  'until it is credited';

function titleOn(answer: WireAnswer): string {
  const status = statusOf(answer);
  if (status === undefined)
    return answer === 'closed'
      ? 'closed the connection on a genuine delivery'
      : 'gave no answer to a genuine delivery';
  return `refused a genuine delivery (${status})`;
}

/**
 * @param forged the answer to a forged delivery. A receiver with another secret gives the same
 *   answer to a genuine delivery.
 */
function stopOn(answer: WireAnswer, forged: WireAnswer, milliseconds: number): AuditStop {
  const status = statusOf(answer);
  const stop = (reason: AuditStop['reason'], message: string): AuditStop => ({ reason, message });
  if (status === undefined) {
    const question = "check the receiver's address, and look for code that reads the body first.";
    if (answer === 'closed')
      return stop('no_answer', `The server gave no answer and closed the connection: ${question}`);
    const seconds = Number((milliseconds / 1_000).toFixed(1));
    return stop(
      'no_answer',
      `The server accepted the connection and gave no answer in ${seconds} s: ${question} ` +
        'A server that compiles at its first request ' +
        'may answer when the audit is started again.',
    );
  }
  if (status < 400)
    return stop(
      'refused',
      'Neither the audit nor the service follows redirects: name the target address.',
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
      'The server has a rate limit (429): lift it for the audit, which sends a few ' +
        'hundred requests.',
    );
  }
  if (status === 415) {
    return stop(
      'refused',
      'The server refused the type of a genuine delivery (415), which is application/json ' +
        'without a Content-Encoding: accept the raw body of every type.',
    );
  }
  if (status === 405) return stop('no_route', 'The path exists, but not for POST.');
  if (status === 404) {
    return stop(
      'no_route',
      'The path has no route for POST, or the receiver looks up its orders and does not ' +
        'know the reference.',
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
      `A genuine delivery was refused like a forged one (${status}). Compare the secrets ` +
        'and the header names on both sides, and verify the raw bytes. If they are right, ' +
        'check that the receiver knows the order.',
    );
  }
  return stop(
    'unknown_reference',
    'The receiver verified a genuine delivery, but refused it. Read its log, and check ' +
      'that it knows the order.',
  );
}

async function forgedAnswer(session: AuditSession, milliseconds: number): Promise<WireAnswer> {
  const { material, request, genuineLines } = session;
  const [type, event] = genuineLines();
  const forged = [material.names.signature, material.mac(material.body, UNKNOWN_SECRET)] as const;
  return session
    .exchangeWithin(milliseconds, request([type!, event!, forged], material.body))
    .catch(() => 'closed' as const);
}

/**
 * Tries variants of a refused genuine delivery. If the receiver accepts one, it verifies something
 * else.
 */
async function wayIn(session: AuditSession, milliseconds: number): Promise<AuditResult[]> {
  const { material } = session;
  const kit = attacks({ ...kitOptions(material) });
  const first = (test: (what: string, id: string) => boolean) =>
    kit.filter(({ what, id }) => test(what, id));
  const tries = [
    ...first(
      (what) => what === 'a signature of zeros' || what === 'a delivery without a signature',
    ),
    ...first((_, id) => id === 'B04' || id === 'B07'),
    ...first(
      (what) =>
        what === 'a signature made with an empty secret' ||
        what === 'a signature made with another secret',
    ),
    ...first((what) => what.includes('made compact in transit')),
  ];
  const results = await Promise.all(
    tries.map(async (attack): Promise<AuditResult | undefined> => {
      const probe = probeOf(attack);
      const { headers, rawBody } = attack.delivery;
      const bytes = session.request(Object.entries(headers), rawBody);
      const answer = await session
        .exchangeWithin(milliseconds, bytes)
        .catch(() => 'closed' as const);
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

function kitOptions({ secret, reference, names }: Material) {
  return { secret, reference, headers: names };
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
      'its certificate is not trusted. For your own certificate, name its authority in ' +
      'NODE_EXTRA_CA_CERTS.'
    );
  }
  if (/SSL|EPROTO|TLS/.test(code))
    return 'the server does not speak TLS. Use http:// instead of https://.';
  return "check the receiver's address, and http:// or https://.";
}
