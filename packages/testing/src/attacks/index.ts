/** The attack kit: deliveries that a receiver must refuse, and deliveries that it must not. */
import { headerNames, type HeaderNameOptions } from '../delivery-forms.js';
import { requireSecret, TEST_SECRET } from '../signed-delivery.js';
import { materialOf, type Attack, type Sign } from './attack.js';
import { bodyAttacks } from './body.js';
import { eventAttacks } from './event.js';
import { signatureAttacks } from './signature.js';
import { transportAttacks } from './transport.js';

export interface AttackOptions {
  /** The receiver's webhook secret. A string stands for its UTF-8 bytes. Default `TEST_SECRET`. */
  readonly secret?: string | Uint8Array | undefined;
  /**
   * The reference in the deliveries that are genuine: the receiver's handler gets it, so name an
   * order of your tests. Some deliveries have a reference that only begins with it. Default
   * `paylink-attack`.
   */
  readonly reference?: string | undefined;
  /**
   * The most bytes that the receiver takes. Genuine deliveries that are longer are left out.
   * Default 65,536.
   */
  readonly bodyLimit?: number | undefined;
  /**
   * Whether the receiver asks the API before it credits: then no field of the body decides. Default
   * false.
   */
  readonly confirm?: boolean | undefined;
  /**
   * The value of the signature header, for a receiver of another service. Its spelling is then not
   * attacked. Default: the contract's, lower-case hexadecimal HMAC-SHA256.
   */
  readonly sign?: Sign | undefined;
  /** Other names of the two headers, as the receiver's option of the same name. */
  readonly headers?: HeaderNameOptions | undefined;
}

/**
 * Makes the attacks that any HTTP client can send, by POST: sections A, C and E of the table of
 * attacks, and the part of D that needs no own socket. `auditReceiver` has the rest as well.
 *
 * @throws TypeError when `secret` is empty, or `bodyLimit` is too small for a body to be made.
 */
export function attacks(options: AttackOptions = {}): Attack[] {
  const {
    secret = TEST_SECRET,
    reference = 'paylink-attack',
    bodyLimit = 65_536,
    confirm = false,
    sign,
  } = options;
  if (!Number.isSafeInteger(bodyLimit) || bodyLimit < 1_024)
    throw new TypeError('bodyLimit must be a whole number of at least 1,024');
  const material = materialOf({
    secret: requireSecret(secret),
    reference,
    bodyLimit,
    sign,
    names: headerNames(options.headers),
  });
  return [
    ...signatureAttacks(material),
    ...bodyAttacks(material, confirm),
    ...transportAttacks(material),
    ...eventAttacks(material),
  ].filter(
    ({ category, delivery: { rawBody } }) => category !== 'genuine' || rawBody.length <= bodyLimit,
  );
}
