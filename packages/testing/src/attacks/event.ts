/** Section E of the table of attacks: the event header, which the signature does not cover. */
import { row, type Material, type Row } from './attack.js';
import { ACKNOWLEDGED, also, genuine, invalidEvent } from './verdicts.js';

/** A receiver that ignores the header's spelling does no harm if it asks the API. */
const noKind = also(invalidEvent, ACKNOWLEDGED);
const unknown = genuine('medium', 'unknown_kind');

export const eventRows = ({ bodyWith }: Material): Row[] => [
  row('E01', invalidEvent, { 'a signed delivery without an event header': { event: null } }),
  row('E02', invalidEvent, { 'an empty event header': { event: '' } }),
  row('E02', noKind, {
    'an event header of more than 128 characters': { event: 'a'.repeat(129) },
    'an event header with a space': { event: 'payment succeeded' },
    'an event header that lists two kinds': { event: 'payment.succeeded, payment.succeeded' },
    'a quoted event header': { event: '"payment.succeeded"' },
    'an event header that forges a log line': { event: 'x%0a[info]-forged-line' },
  }),
  row('E04', unknown, {
    'an event of an unknown kind': { event: 'payment.audited' },
    'an event kind named like a property of Object.prototype': { event: 'constructor' },
  }),
  row('E05', noKind, { 'a kind in another case': { event: 'Payment.Succeeded' } }),
  row('E08', genuine('medium', 'unknown_kind', [400, 409, 422]), {
    'a body whose other fields name another kind': {
      body: bodyWith('"event":"payment.failed","type":"refund"'),
    },
  }),
];
