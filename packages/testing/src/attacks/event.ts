/** Section E of the table of attacks: the event header, which the signature does not cover. */
import {
  ACKNOWLEDGED,
  ALSO_ACKNOWLEDGED,
  row,
  type Attack,
  type Line,
  type Material,
  type Verdict,
} from './attack.js';

const absent: Verdict = {
  category: 'invalid',
  status: 400,
  code: 'invalid_event',
  accepts: [401, 403, 422],
  severity: 'low',
  fault: 'event_header',
  advice:
    'Without an event header, the kind of the event is unknown. Answer 400 instead of ' +
    'guessing.',
};
const noKind: Verdict = {
  ...absent,
  // A receiver that ignores unknown kinds with a 200 does no harm.
  accepts: [401, 403, 422, ...ACKNOWLEDGED],
  advice:
    'Compare the event header with the kinds that you handle, character for character. ' +
    'Answer 400 to everything that is not a kind. Do not log the header unescaped, and do ' +
    'not answer 5xx.',
};
const unknown: Verdict = {
  category: 'genuine',
  status: 200,
  accepts: ALSO_ACKNOWLEDGED,
  severity: 'medium',
  fault: 'unknown_kind',
  advice:
    'Acknowledge and ignore a kind that you do not handle. Otherwise a new kind of event ' +
    'causes a storm of retries.',
};

/** Allows refusals, because comparing the signed body with the unsigned header is safer. */
const contradicted: Verdict = { ...unknown, accepts: [...ALSO_ACKNOWLEDGED, 400, 409, 422] };

export function eventAttacks(material: Material): Attack[] {
  const named = (events: Readonly<Record<string, string>>): Line[] =>
    Object.entries(events).map(([what, event]): Line => [what, { event }]);
  return [
    ...row(material, 'E01', absent, [
      ['a signed delivery without an event header', { event: null }],
    ]),
    ...row(material, 'E02', absent, named({ 'an empty event header': '' })),
    ...row(
      material,
      'E02',
      noKind,
      named({
        'an event header of more than 128 characters': 'a'.repeat(129),
        'an event header with a space': 'payment succeeded',
        'an event header that lists two kinds': 'payment.succeeded, payment.succeeded',
        'a quoted event header': '"payment.succeeded"',
        'an event header that forges a log line': 'x%0a[info]-forged-line',
      }),
    ),
    ...row(
      material,
      'E04',
      unknown,
      named({
        'an event of an unknown kind': 'payment.audited',
        'an event kind named like a property of Object.prototype': 'constructor',
      }),
    ),
    ...row(material, 'E05', noKind, named({ 'a kind in another case': 'Payment.Succeeded' })),
    ...row(material, 'E08', contradicted, [
      [
        'a body whose other fields name another kind',
        { body: material.bodyWith('"event":"payment.failed","type":"refund"') },
      ],
    ]),
  ];
}
