/** Section E of the table of attacks: the event header, which the signature does not cover. */
import { row, type Attack, type Line, type Material } from './attack.js';
import { verdicts } from './verdicts.js';

const { absent, noKind, unknown, contradicted } = verdicts.event;

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
