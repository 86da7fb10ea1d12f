/** Finds the few causes behind many findings. */
import { acknowledges, type Fault, type Severity } from '../attacks/attack.js';
import { COMPARE, RAW_BODY } from './framework.js';
import type { AuditResult } from './report.js';

/** The faults of a receiver. Programs can rely on these ids. */
export type CauseId =
  | Fault
  | 'not_acknowledged'
  | 'crashes'
  | 'hangs'
  | 'fails_genuine'
  | 'parses_first'
  | 'no_deadline'
  | 'one_at_a_time'
  | 'stops_serving'
  | 'refuses_duplicates'
  | 'tells_reason'
  | 'quotes_body'
  | 'leaks_secret'
  | 'leaks_trace'
  | 'no_memory'
  | 'not_atomic'
  | 'key_by_body'
  | 'loses_credit'
  | 'credits_unpaid'
  | 'credits_nonsense'
  | 'credits_unknown'
  | 'loses_unknown';

/** One cause, with its evidence and its fix. */
export type AuditCause = Readonly<{
  id: CauseId;
  severity: Severity;
  /** The receiver's fault: "does not verify at all". */
  title: string;
  /** The evidence, in at most three sentences. */
  evidence: readonly string[];
  /** The fix in one line, for the answering framework if known. */
  fix: string;
  /** The number of findings with this cause. */
  symptoms: number;
}>;

interface Traits {
  readonly title: string;
  readonly severity: Severity;
  readonly fix: string | ((framework: string) => string);
}

const rawBody = (framework: string): string =>
  'Verify the bytes as received, before any parser: ' +
  `${RAW_BODY[framework] ?? 'take the raw body of the request'}.`;
const compare = (framework: string): string =>
  'Compute HMAC-SHA256 of the raw body with the secret and compare all of it: ' +
  `${COMPARE[framework] ?? 'crypto.timingSafeEqual'}. Answer 401 otherwise.`;
/** The advice for receivers that already verify the raw bytes. */
const FOR_RAW_BYTES: Partial<Record<CauseId, string>> = {
  refuses_genuine: 'The receiver verifies the raw bytes already. Its log explains the refusals.',
  decodes_text:
    'Compute the HMAC over the Buffer, not over a string: no toString(), no setEncoding().',
  trims: 'Compute the HMAC over the untrimmed body: no trim().',
  parses_first: 'A JSON parser runs before the signature is verified: keep it off this route.',
  content_type: 'Take the raw bytes for every Content-Type.',
  verifies_other_bytes: 'Compute the HMAC over every byte of the body, and compare all of it.',
};

const record =
  'Insert the reference into a table with a unique key in the transaction that credits, ' +
  'and answer 200 if the row already exists.';

export const CAUSES: Readonly<Record<CauseId, Traits>> = {
  does_not_verify: { title: 'does not verify at all', severity: 'critical', fix: compare },
  accepts_unsigned: {
    title: 'accepts deliveries without a signature',
    severity: 'critical',
    fix: 'Answer 401 if the signature header is absent or empty, before anything else.',
  },
  public_secret: {
    title: 'verifies with a public secret',
    severity: 'critical',
    fix: 'Use the webhook secret of the merchant portal, and refuse to start without a secret.',
  },
  leaks_secret: {
    title: 'sends the secret or a signature',
    severity: 'critical',
    fix: 'Answer refusals with a fixed text. Never send an expected signature.',
  },
  no_memory: {
    title: 'does not remember credits: credits each delivery again',
    severity: 'critical',
    fix: record,
  },
  not_atomic: {
    title: 'credits several times if duplicates arrive at once',
    severity: 'critical',
    fix: record,
  },
  key_by_body: {
    title: 'remembers the body instead of the order: credits twice for one reference',
    severity: 'critical',
    fix:
      'Remember the event kind with the reference, never a hash of the body, a header or ' +
      'the signature.',
  },
  loses_credit: {
    title: 'acknowledges a payment without crediting the order',
    severity: 'critical',
    fix:
      'Answer 200 only after the credit is committed, and mark the order as done in the same ' +
      'transaction.',
  },
  credits_unpaid: {
    title: 'credits unpaid orders',
    severity: 'critical',
    fix:
      'Credit only for payment.succeeded, unless the signed body contradicts it. Ask the ' +
      'API for the payment first.',
  },
  credits_nonsense: {
    title: 'credits orders that do not exist, such as "undefined"',
    severity: 'critical',
    fix:
      'Answer 400 unless `reference` is a non-blank string, and credit only an order that ' +
      'exists.',
  },
  compares_part: {
    title: 'compares only a part of the signature',
    severity: 'critical',
    fix: compare,
  },
  reserializes: { title: 'verifies re-serialised JSON', severity: 'critical', fix: rawBody },
  verifies_other_bytes: {
    title: 'verifies something other than the body',
    severity: 'critical',
    fix: rawBody,
  },
  decodes_text: { title: 'decodes the body as text first', severity: 'high', fix: rawBody },
  trims: { title: 'trims the body first', severity: 'high', fix: rawBody },
  inflates: {
    title: 'inflates the body first',
    severity: 'high',
    fix: 'Answer 415 to every Content-Encoding except identity, before you read the body.',
  },
  refuses_genuine: { title: 'refuses genuine deliveries', severity: 'high', fix: rawBody },
  fails_genuine: {
    title: 'fails on genuine deliveries',
    severity: 'high',
    fix:
      "Read the receiver's log. Bind the reference as a parameter in SQL, and answer 503 " +
      'for an unknown order.',
  },
  not_acknowledged: {
    title: 'does not acknowledge a genuine delivery',
    severity: 'high',
    fix: 'See the reason above, then run the audit again.',
  },
  loses_unknown: {
    title: 'acknowledges unknown orders',
    severity: 'high',
    fix:
      'Answer 503 for an unknown order: the notification may arrive before the order is ' +
      'stored, and a 200 would lose the payment.',
  },
  credits_unknown: {
    title: 'credits orders that do not exist',
    severity: 'medium',
    fix: 'Look up the order, and answer 503 if it does not exist.',
  },
  no_limit: {
    title: 'has no limit on the body',
    severity: 'high',
    fix: 'Stop reading at 64 kB and answer 413. Refuse a longer Content-Length at once.',
  },
  one_at_a_time: {
    title: 'serves one request at a time: slow senders block the others',
    severity: 'high',
    fix:
      'Serve with more than one worker and limit the time of a body, or put a server that ' +
      'buffers requests in front.',
  },
  stops_serving: {
    title: 'stops serving',
    severity: 'high',
    fix: "Read the receiver's log: no request may end its process.",
  },
  hangs: {
    title: 'does not answer',
    severity: 'medium',
    fix:
      'Answer every request in bounded time, even if other code read the body or the body ' +
      'is unexpected.',
  },
  no_deadline: {
    title: 'waits forever for a slow body',
    severity: 'medium',
    fix: 'Allow 10 s for a whole body, then answer 408 or close the connection.',
  },
  parses_first: { title: 'parses before it verifies', severity: 'medium', fix: rawBody },
  crashes: {
    title: 'fails on malformed input',
    severity: 'medium',
    fix:
      'Answer 401 to a signature that does not match /^[0-9a-f]{64}$/, and 400 to an unusable ' +
      'body. Do not let an exception become the answer.',
  },
  several_spellings: {
    title: 'accepts several spellings of one signature',
    severity: 'medium',
    fix:
      'Test the signature with /^[0-9a-f]{64}$/ before you decode it. Do not trim, split, ' +
      'unquote or lower-case it.',
  },
  reads_elsewhere: {
    title: 'reads the signature from other places too',
    severity: 'medium',
    fix: 'Read the signature only from the X-Service-Signature header.',
  },
  content_type: { title: 'depends on the Content-Type', severity: 'medium', fix: rawBody },
  contradiction: {
    title: 'trusts the event header more than the signed body',
    severity: 'medium',
    fix: 'Trust the signed body, or ask the API for the payment before you credit.',
  },
  unknown_kind: {
    title: 'refuses events of unknown kinds',
    severity: 'medium',
    fix: 'Answer 200 to a kind that you do not handle, and ignore the event.',
  },
  refuses_duplicates: {
    title: 'refuses duplicates',
    severity: 'medium',
    fix:
      'Answer 200 to a notification that you have already handled. Otherwise the sender ' +
      'retries for ever.',
  },
  quotes_body: {
    title: 'quotes the body in its replies',
    severity: 'medium',
    fix: 'Answer with a fixed text.',
  },
  leaks_trace: {
    title: 'sends stack traces',
    severity: 'medium',
    fix: 'Run in production mode, or answer errors with a fixed text.',
  },
  wrong_limit: {
    title: 'has a different body limit than the audit',
    severity: 'medium',
    fix: 'Compare the limits of the receiver and its proxy with the body limit of the audit.',
  },
  invalid_body: {
    title: 'acknowledges unusable bodies',
    severity: 'low',
    fix: 'Answer 400 to a signed body that is not a JSON object with a `reference`.',
  },
  event_header: {
    title: 'guesses the event kind',
    severity: 'low',
    fix: 'Answer 400 if the event header is absent or malformed.',
  },
  tells_reason: {
    title: 'reveals the fault of a signature',
    severity: 'low',
    fix: 'Send one fixed reply for every fault of the signature.',
  },
  framing: {
    title: 'accepts requests that HTTP forbids',
    severity: 'low',
    fix: 'Update the HTTP server, or put a server that answers 400 in front.',
  },
  method: { title: 'accepts methods other than POST', severity: 'low', fix: 'Route POST only.' },
  http_form: {
    title: 'refuses some valid forms of HTTP',
    severity: 'note',
    fix: 'Accept this form if a proxy sends it.',
  },
};

/** A cause that explains findings of other faults too. Each finding follows its first rule. */
interface Rule {
  readonly id: CauseId;
  readonly holds: (facts: Facts) => boolean;
  readonly folds: (finding: AuditResult) => boolean;
}

interface Facts {
  /** Returns true if the receiver accepted the described delivery. */
  readonly accepted: (what: string) => boolean;
  readonly has: (cause: CauseId) => boolean;
}

const isAccepted = ({ actual }: AuditResult): boolean => acknowledges(actual);
const isIn =
  (...sections: readonly string[]) =>
  ({ id }: AuditResult): boolean =>
    sections.some((section) => id.startsWith(section));
const ofFault =
  (...faults: readonly CauseId[]) =>
  ({ cause }: AuditResult): boolean =>
    cause !== undefined && faults.includes(cause);

const RULES: readonly Rule[] = [
  {
    id: 'does_not_verify',
    holds: ({ accepted }) =>
      accepted('a signature of zeros') && accepted('a signature made with another secret'),
    folds: (finding) =>
      (isAccepted(finding) &&
        (isIn('A', 'B', 'C01', 'C02', 'C07', 'C10', 'D12', 'D13')(finding) ||
          ofFault('inflates')(finding))) ||
      ofFault('tells_reason', 'parses_first', 'does_not_verify')(finding),
  },
  {
    id: 'reserializes',
    holds: ({ accepted }) =>
      accepted('a signed body that was pretty-printed in transit') &&
      !accepted('a signature of zeros'),
    folds: (finding) =>
      isIn(
        'C01',
        'C02',
        'C03',
        'C06',
        'C07',
        'C08',
        'C11',
        'C18',
        'C19',
        'C20',
        'C21',
        'D12',
        'D13',
      )(finding) ||
      ofFault('content_type', 'parses_first', 'inflates', 'decodes_text', 'trims')(finding),
  },
  {
    id: 'trims',
    holds: ({ has }) => has('trims'),
    folds: (finding) => ofFault('trims')(finding) || isIn('C08')(finding) || isBom(finding),
  },
  { id: 'no_limit', holds: ({ has }) => has('no_limit'), folds: ofFault('wrong_limit') },
  {
    id: 'no_memory',
    holds: ({ has }) => has('no_memory'),
    folds: ofFault('not_atomic', 'key_by_body'),
  },
];

function isBom({ id, what }: AuditResult): boolean {
  return id === 'C01' && what?.includes('byte order mark') === true;
}

const WORST_FIRST: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'note'];

export function bySeverity(
  a: { readonly severity?: Severity },
  b: { readonly severity?: Severity },
): number {
  return WORST_FIRST.indexOf(a.severity ?? 'note') - WORST_FIRST.indexOf(b.severity ?? 'note');
}

/** Groups findings by cause, worst first. */
export function causesOf(results: readonly AuditResult[], framework = ''): AuditCause[] {
  const findings = results.filter(({ passed }) => !passed).sort(bySeverity);
  const takesRawBytes = verifiesRawBytes(results);
  const facts: Facts = {
    accepted: (what) => findings.some((finding) => isAccepted(finding) && finding.what === what),
    has: (cause) => findings.some((finding) => finding.cause === cause),
  };
  const groups = new Map<CauseId, AuditResult[]>();
  for (const finding of findings) {
    const rule = RULES.find(({ holds, folds }) => holds(facts) && folds(finding));
    const id = rule?.id ?? finding.cause!;
    groups.set(id, [...(groups.get(id) ?? []), finding]);
  }
  return [...groups]
    .map(([id, symptoms]) =>
      causeOf(id, symptoms, takesRawBytes ? FOR_RAW_BYTES[id] : undefined, framework),
    )
    .sort(bySeverity);
}

/** Returns true if the receiver accepted a body that a parser would change. */
function verifiesRawBytes(results: readonly AuditResult[]): boolean {
  const shows = ({ what, passed, skipped }: AuditResult): boolean =>
    what === 'a pretty-printed body that is signed as such' && passed && skipped === undefined;
  return results.some(shows);
}

function causeOf(
  id: CauseId,
  symptoms: readonly AuditResult[],
  fixForRawBytes: string | undefined,
  framework: string,
): AuditCause {
  const { title, fix } = CAUSES[id];
  const ordered = [...symptoms].sort(
    (a, b) =>
      STRONG.indexOf(b.what ?? '') - STRONG.indexOf(a.what ?? '') ||
      Number(b.cause === id) - Number(a.cause === id) ||
      bySeverity(a, b),
  );
  return {
    id,
    severity: severityOf(id, symptoms),
    title,
    evidence: evidenceOf(ordered),
    fix: fixForRawBytes ?? (typeof fix === 'string' ? fix : fix(framework)),
    symptoms: symptoms.length,
  };
}

function severityOf(id: CauseId, symptoms: readonly AuditResult[]): Severity {
  // Re-serialised JSON loses payments only if the receiver refuses genuine deliveries.
  if (id === 'reserializes' && symptoms.every(isAccepted)) return 'high';
  const worst = [...symptoms].sort(bySeverity)[0]!.severity!;
  return WORST_FIRST[
    Math.max(
      WORST_FIRST.indexOf(CAUSES[id].severity),
      id === 'reserializes' ? 0 : WORST_FIRST.indexOf(worst),
    )
  ]!;
}

/** The most convincing findings, the strongest last. */
const STRONG = [
  'another reference under a genuine signature',
  'a signature of zeros',
  'a delivery without a signature',
];

/** Picks up to three findings of different rows. */
function evidenceOf(symptoms: readonly AuditResult[]): string[] {
  const rows = new Map(
    symptoms.map((symptom) => [`${symptom.id}${isAccepted(symptom)}`, symptom]).reverse() as [
      string,
      AuditResult,
    ][],
  );
  const different = symptoms.filter(
    (symptom) => rows.get(`${symptom.id}${isAccepted(symptom)}`) === symptom,
  );
  return different
    .slice(0, 3)
    .map(({ title, detail }) => (detail === undefined ? title! : `${title!} (${detail})`));
}
