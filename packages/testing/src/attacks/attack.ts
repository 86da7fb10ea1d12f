/** The types of an attack, and helpers for the lists in this folder. */
import { createHmac } from 'node:crypto';
import { contentTypeOf, inForms, type DeliveryForms, type HeaderNames } from '../delivery-forms.js';

/**
 * The harm. `critical`: the receiver credits without a payment, loses a payment or lets an attacker
 * in. `note`: worth knowing, but not a finding.
 */
export type Severity = 'critical' | 'high' | 'medium' | 'low' | 'note';

/**
 * `forged`: the signature is not valid for the body and the secret, or is not in the format that
 * the contract requires. `invalid`: the delivery is signed, but its content is unusable.
 * `genuine`: a receiver that rejects the delivery loses payments.
 */
type AttackCategory = 'forged' | 'invalid' | 'genuine';

/** The fault behind a wrong reply. An audit groups findings by fault. */
// oxfmt-ignore
export type Fault =
  | 'accepts_unsigned' | 'does_not_verify' | 'compares_part' | 'several_spellings'
  | 'reads_elsewhere' | 'public_secret' | 'verifies_other_bytes' | 'reserializes' | 'decodes_text'
  | 'trims' | 'inflates' | 'refuses_genuine' | 'content_type' | 'invalid_body' | 'contradiction'
  | 'event_header' | 'unknown_kind' | 'no_limit' | 'wrong_limit' | 'framing' | 'http_form'
  | 'method';

/** A delivery and the statuses that count as a correct reply. */
export interface Attack {
  /** The row in the attack table, such as "A06". Several attacks can share a row. */
  readonly id: string;
  /** A unique sentence that begins with the id. */
  readonly name: string;
  /** The delivery in words, without a verb, such as "a delivery without a signature". */
  readonly what: string;
  readonly category: AttackCategory;
  readonly delivery: DeliveryForms;
  /** The status with which Paylink's receivers reply. */
  readonly status: number;
  /** The code in the body of that reply, or `undefined` if Paylink acknowledges the delivery. */
  readonly code?: string | undefined;
  /** Other statuses that are harmless. */
  readonly accepts: readonly number[];
  /** The harm if the receiver accepts a forgery or rejects a genuine delivery. */
  readonly severity: Severity;
  readonly fault: Fault;
}

/** The parts from which the lists make their deliveries. */
export interface Material {
  readonly secret: string | Uint8Array;
  readonly reference: string;
  readonly bodyLimit: number;
  readonly names: HeaderNames;
  readonly body: Buffer;
  readonly signature: string;
  readonly mac: (
    body: string | Uint8Array,
    key?: string | Uint8Array,
    algorithm?: string,
  ) => string;
  /** Returns a body with the reference and more JSON fields. */
  readonly bodyWith: (more: string) => Buffer;
}

export function materialOf(
  options: Pick<Material, 'secret' | 'reference' | 'bodyLimit' | 'names'>,
): Material {
  const { secret, reference } = options;
  const mac: Material['mac'] = (body, key = secret, algorithm = 'sha256') =>
    createHmac(algorithm, key).update(body).digest('hex');
  const body = Buffer.from(JSON.stringify({ reference }));
  return {
    ...options,
    body,
    signature: mac(body),
    mac,
    bodyWith: (more) => Buffer.from(`{"reference":${JSON.stringify(reference)},${more}}`),
  };
}

/** The difference between a delivery and the genuine delivery. */
export interface Difference {
  readonly body?: string | Uint8Array;
  /** `undefined`: the body's signature. `null`: no header. */
  readonly signature?: string | null;
  readonly event?: string | null;
  /** `null` removes a default header. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export type Verdict = Pick<
  Attack,
  'category' | 'status' | 'code' | 'accepts' | 'severity' | 'fault'
>;

/** The deliveries of one row, each in words and as its difference from the genuine delivery. */
export interface Row {
  readonly id: string;
  readonly verdict: Verdict;
  readonly deliveries: Readonly<Record<string, Difference>>;
}

export const row = (id: string, verdict: Verdict, deliveries: Row['deliveries']): Row => ({
  id,
  verdict,
  deliveries,
});

/** Returns a maker of rows whose deliveries have the same other part, each with its value. */
export const rowsOf =
  (part: 'body' | 'signature') =>
  (id: string, verdict: Verdict, sent: Readonly<Record<string, string | Uint8Array>>): Row => {
    const deliveries = Object.entries(sent).map(([what, value]) => [what, { [part]: value }]);
    return row(id, verdict, Object.fromEntries(deliveries) as Row['deliveries']);
  };

export function attacksOf(material: Material, rows: readonly Row[]): Attack[] {
  return rows.flatMap(({ id, verdict, deliveries }) =>
    Object.entries(deliveries).map(([what, difference]) => {
      const name = nameOf(id, verdict.category, what);
      return { id, name, what, delivery: deliveryWith(material, verdict, difference), ...verdict };
    }),
  );
}

export function nameOf(id: string, category: AttackCategory, what: string): string {
  return `${id} ${category === 'genuine' ? 'accepts' : 'refuses'} ${what}`;
}

function deliveryWith(
  { names, body, mac }: Material,
  { category }: Verdict,
  difference: Difference,
): DeliveryForms {
  const rawBody = Buffer.from(difference.body ?? body);
  // Parsers read only JSON. A client that writes the bytes in another way sends a forgery too.
  const type = category === 'forged' ? 'application/json' : contentTypeOf(rawBody);
  const headers: Record<string, string | null> = {
    'content-type': type,
    [names.event]: difference.event === undefined ? 'payment.succeeded' : difference.event,
    [names.signature]: difference.signature === undefined ? mac(rawBody) : difference.signature,
    ...difference.headers,
  };
  const sent = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return inForms(rawBody, Object.fromEntries(sent));
}

/** Returns a copy of the bytes with one bit changed. */
export function withFlip(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

/** Signs well-formed forged signatures. */
export const UNKNOWN_SECRET = 'a-secret-that-is-not-configured-anywhere';
