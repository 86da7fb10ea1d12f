/** The attack kit: deliveries that a receiver must reject, and deliveries that it must accept. */
import { checkOptions } from '../check-options.js';
import { headerNames, type HeaderNameOptions } from '../delivery-forms.js';
import { requireSecret, TEST_SECRET } from '../signed-delivery.js';
import { attacksOf, materialOf, type Attack } from './attack.js';
import { bodyRows } from './body.js';
import { eventRows } from './event.js';
import { signatureRows } from './signature.js';
import { transportRows } from './transport.js';

export interface AttackOptions {
  /** The receiver's webhook secret. A string is encoded as UTF-8. Default `TEST_SECRET`. */
  readonly secret?: string | Uint8Array | undefined;
  /**
   * The reference in genuine deliveries, which reach the receiver's handler. Use an order from your
   * tests. Some deliveries use a longer reference that contains it. Default `paylink-attack`.
   */
  readonly reference?: string | undefined;
  /** The receiver's body limit in bytes. The kit omits longer genuine bodies. Default 65,536. */
  readonly bodyLimit?: number | undefined;
  /**
   * True if the receiver asks the API before it credits, and does not rely on body fields. Default
   * false.
   */
  readonly confirm?: boolean | undefined;
  /** Custom names for the two headers, as in the receiver's option. */
  readonly headers?: HeaderNameOptions | undefined;
}

const OPTIONS = ['secret', 'reference', 'bodyLimit', 'confirm', 'headers'];

/**
 * Creates the attacks that any HTTP client can POST, from sections A to E of the attack table.
 * `paylink audit` also tries the attacks that need a raw socket.
 *
 * @throws TypeError for an unknown option, an empty `secret`, or a `bodyLimit` below 1,024
 */
export function attacks(options: AttackOptions = {}): Attack[] {
  checkOptions(options, OPTIONS);
  const {
    secret = TEST_SECRET,
    reference = 'paylink-attack',
    bodyLimit = 65_536,
    confirm = false,
  } = options;
  if (!Number.isSafeInteger(bodyLimit) || bodyLimit < 1_024)
    throw new TypeError('bodyLimit must be a whole number of at least 1,024');
  const material = materialOf({
    secret: requireSecret(secret),
    reference,
    bodyLimit,
    names: headerNames(options.headers),
  });
  const rows = [
    ...signatureRows(material),
    ...bodyRows(material, confirm),
    ...transportRows(material),
    ...eventRows(material),
  ];
  return attacksOf(material, rows).filter(
    ({ category, delivery: { rawBody } }) => category !== 'genuine' || rawBody.length <= bodyLimit,
  );
}
