/** Section E of the table: the event header, which the signature does not cover. */
import { ACKNOWLEDGED, row, type Attack, type Line, type Material, type Verdict } from './attack.js';

const absent: Verdict = {
  category: 'invalid',
  status: 400,
  accepts: [401, 403, 422],
  severity: 'low',
  advice: 'Without an event header nobody knows what happened, and to act would be to guess: answer 400.',
};
const noKind: Verdict = {
  category: 'invalid',
  status: 400,
  // Who ignores what it does not know, and says so with 200, does no harm; that it was not acted upon cannot be seen from here.
  accepts: [401, 403, 422, ...ACKNOWLEDGED],
  severity: 'medium',
  advice:
    'Compare the event header with the kinds that you handle, character for character. Whatever is no kind is refused with 400, and neither logged as it came nor answered by a 5xx.',
};
const unknown: Verdict = {
  category: 'genuine',
  status: 200,
  accepts: [204],
  severity: 'medium',
  advice: 'Acknowledge a kind that you do not handle, and ignore it: else a new kind of the service becomes a storm of retries.',
};

export function eventAttacks(material: Material): Attack[] {
  const said = (events: Readonly<Record<string, string>>): Line[] =>
    Object.entries(events).map(([sentence, event]): Line => [sentence, { event }]);
  return [
    ...row(material, 'E01', absent, [['refuses a signed delivery without an event header', { event: null }]]),
    ...row(material, 'E02', absent, said({ 'refuses an empty event header': '' })),
    ...row(
      material,
      'E02',
      noKind,
      said({
        'refuses an event header of more than 128 characters': 'a'.repeat(129),
        'refuses an event header with a blank in it': 'payment succeeded',
        'refuses an event header that lists two kinds': 'payment.succeeded, payment.succeeded',
        'refuses an event header that is quoted': '"payment.succeeded"',
        'refuses an event header with characters of a log line': 'x%0a[info]-forged-line',
      }),
    ),
    ...row(material, 'E04', unknown, said({ 'acknowledges a kind that it does not know': 'payment.audited' })),
    ...row(material, 'E04', unknown, said({ 'acknowledges a kind that is named as something of a prototype': 'constructor' })),
    ...row(material, 'E05', noKind, said({ 'refuses a kind in another case': 'Payment.Succeeded' })),
    ...row(material, 'E08', unknown, [
      ['takes no other field of the body for the kind', { body: material.bodyWith('"event":"payment.failed","type":"refund"') }],
    ]),
  ];
}
