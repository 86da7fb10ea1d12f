/** Finds the few causes behind many findings. */
import { acknowledges, type Severity } from '@paylink/testing/internal';
import { CAUSES, FOR_RAW_BYTES, fixOf, type CauseId } from './cause.js';
import type { AuditResult } from './result.js';

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

/** A cause that explains findings of other faults too. Each finding follows its first rule. */
interface Rule {
  readonly id: CauseId;
  /** Receives the accepted deliveries in words. Default: a finding has this cause. */
  readonly holds?: (accepted: ReadonlySet<string>) => boolean;
  readonly folds: (finding: AuditResult) => boolean;
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

/** The rows in which re-serialised JSON shows. */
const RESERIALIZED = 'C01 C02 C03 C06 C07 C08 C11 C18 C19 C20 C21 D12 D13'.split(' ');

const RULES: readonly Rule[] = [
  {
    id: 'does_not_verify',
    holds: (accepted) =>
      accepted.has('a signature of zeros') && accepted.has('a signature made with another secret'),
    folds: (finding) =>
      (isAccepted(finding) &&
        (isIn('A', 'B', 'C01', 'C02', 'C07', 'C10', 'D12', 'D13')(finding) ||
          ofFault('inflates')(finding))) ||
      ofFault('tells_reason', 'parses_first', 'does_not_verify')(finding),
  },
  {
    id: 'reserializes',
    holds: (accepted) =>
      accepted.has('a signed body that was pretty-printed in transit') &&
      !accepted.has('a signature of zeros'),
    folds: (finding) =>
      isIn(...RESERIALIZED)(finding) ||
      ofFault('content_type', 'parses_first', 'inflates', 'decodes_text', 'trims')(finding),
  },
  {
    id: 'trims',
    folds: (finding) =>
      isIn('C08')(finding) ||
      (finding.id === 'C01' && finding.what?.includes('byte order mark') === true),
  },
  { id: 'no_limit', folds: ofFault('wrong_limit') },
];

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
  const accepted = new Set(findings.filter(isAccepted).map(({ what = '' }) => what));
  const rules = RULES.filter(
    ({ id, holds }) => holds?.(accepted) ?? findings.some(({ cause }) => cause === id),
  );
  const groups = new Map<CauseId, AuditResult[]>();
  for (const finding of findings) {
    const id = rules.find(({ folds }) => folds(finding))?.id ?? finding.cause!;
    groups.set(id, [...(groups.get(id) ?? []), finding]);
  }
  return [...groups]
    .map(([id, symptoms]): AuditCause => ({
      id,
      severity: severityOf(id, symptoms),
      title: CAUSES[id].title,
      evidence: evidenceOf(id, symptoms),
      fix: (takesRawBytes ? FOR_RAW_BYTES[id] : undefined) ?? fixOf(id, framework),
      symptoms: symptoms.length,
    }))
    .sort(bySeverity);
}

/** A receiver that accepts a body that a parser would change verifies the raw bytes. */
function verifiesRawBytes(results: readonly AuditResult[]): boolean {
  const shows = ({ what, passed, skipped }: AuditResult): boolean =>
    what === 'a pretty-printed body that is signed as such' && passed && skipped === undefined;
  return results.some(shows);
}

/** Returns the milder of the cause's severity and its worst symptom's, which is the first. */
function severityOf(id: CauseId, symptoms: readonly AuditResult[]): Severity {
  // Re-serialised JSON loses payments only if the receiver refuses genuine deliveries.
  if (id === 'reserializes') return symptoms.every(isAccepted) ? 'high' : CAUSES[id].severity;
  return [{ severity: CAUSES[id].severity }, symptoms[0]!].sort(bySeverity)[1]!.severity!;
}

/** The most convincing findings, the strongest last. */
const STRONG = [
  'another reference under a genuine signature',
  'a signature of zeros',
  'a delivery without a signature',
];

/** Picks up to three findings of different rows, the most convincing first. */
function evidenceOf(id: CauseId, symptoms: readonly AuditResult[]): string[] {
  const ordered = [...symptoms].sort(
    (a, b) =>
      STRONG.indexOf(b.what ?? '') - STRONG.indexOf(a.what ?? '') ||
      Number(b.cause === id) - Number(a.cause === id) ||
      bySeverity(a, b),
  );
  const keyOf = (symptom: AuditResult): string => `${symptom.id}${isAccepted(symptom)}`;
  const different = ordered.filter(
    (symptom, index) => ordered.findIndex((each) => keyOf(each) === keyOf(symptom)) === index,
  );
  return different
    .slice(0, 3)
    .map(({ title, detail }) => (detail === undefined ? title! : `${title!} (${detail})`));
}
