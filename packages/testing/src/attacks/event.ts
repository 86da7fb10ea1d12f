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
    'Without an event header the kind of the event is unknown, and to act would be to ' +
    'guess: answer 400.',
};
const noKind: Verdict = {
  ...absent,
  // A receiver that ignores unknown kinds with a 200 does no harm.
  accepts: [401, 403, 422, ...ACKNOWLEDGED],
  advice:
    'Compare the event header with the kinds that you handle, character for character. ' +
    'Refuse everything that is not a kind with 400. Do not log it unescaped, and do not ' +
    'answer 5xx.',
};
const unknown: Verdict = {
  category: 'genuine',
  status: 200,
  accepts: ALSO_ACKNOWLEDGED,
  severity: 'medium',
  fault: 'unknown_kind',
  advice:
    'Acknowledge a kind that you do not handle, and ignore it: otherwise a new kind of ' +
    'the service becomes a storm of retries.',
};

/** A receiver that compares the signed body with the unsigned header is safer. */
const contradicted: Verdict = { ...unknown, accepts: [...ALSO_ACKNOWLEDGED, 400, 409, 422] };

export function eventAttacks(material: Material): Attack[] {
  const said = (events: Readonly<Record<string, string>>): Line[] =>
    Object.entries(events).map(([what, event]): Line => [what, { event }]);
  return [
    ...row(material, 'E01', absent, [
      ['a signed delivery without an event header', { event: null }],
    ]),
    ...row(material, 'E02', absent, said({ 'an empty event header': '' })),
    ...row(
      material,
      'E02',
      noKind,
      said({
        'an event header of more than 128 characters': 'a'.repeat(129),
        'an event header with a space in it': 'payment succeeded',
        'an event header that lists two kinds': 'payment.succeeded, payment.succeeded',
        'an event header that is quoted': '"payment.succeeded"',
        'an event header that forges a log line': 'x%0a[info]-forged-line',
      }),
    ),
    ...row(material, 'E04', unknown, said({ 'an event of an unknown kind': 'payment.audited' })),
    ...row(
      material,
      'E04',
      unknown,
      said({ 'an event kind named like a property of the prototype': 'constructor' }),
    ),
    ...row(material, 'E05', noKind, said({ 'a kind in another case': 'Payment.Succeeded' })),
    ...row(material, 'E08', contradicted, [
      [
        'a body whose other fields name another kind',
        { body: material.bodyWith('"event":"payment.failed","type":"refund"') },
      ],
    ]),
  ];
}
