/** What an attack is, and how the lists beside this are written. */
import { createHmac } from 'node:crypto';
import { contentTypeOf, inForms, type DeliveryForms, type HeaderNames } from '../delivery-forms.js';

export type Severity = 'critical' | 'high' | 'medium' | 'low';

/**
 * What a delivery is. `forged`: its signature is not that of its bytes under the secret, spelt as the contract says. `invalid`:
 * signed, but nothing to act upon. `genuine`: must be accepted; a receiver that refuses it loses payments.
 */
export type AttackCategory = 'forged' | 'invalid' | 'genuine';

/** One delivery, and what a receiver must answer to it. */
export interface Attack {
  /** The row of the table of attacks, "A06" for one. Several attacks have the same. */
  readonly id: string;
  /** A sentence that begins with the id; no two attacks have the same. */
  readonly name: string;
  readonly category: AttackCategory;
  readonly delivery: DeliveryForms;
  /** The status that the receivers of Paylink answer. */
  readonly status: number;
  /** Other statuses by which a receiver does no harm. */
  readonly accepts: readonly number[];
  /** How bad it is when the receiver does the contrary. */
  readonly severity: Severity;
  /** What to change in a receiver that answers otherwise, and why. */
  readonly advice: string;
}

/** What the lists make their deliveries of. */
export interface Material {
  readonly secret: string | Uint8Array;
  readonly reference: string;
  readonly bodyLimit: number;
  readonly names: HeaderNames;
  /** The genuine body. */
  readonly body: Buffer;
  /** Its signature. */
  readonly signature: string;
  readonly mac: (body: string | Uint8Array, key?: string | Uint8Array, algorithm?: string) => string;
  /** A body with the reference, and more. */
  readonly bodyWith: (more: string) => Buffer;
}

export function materialOf(options: Pick<Material, 'secret' | 'reference' | 'bodyLimit' | 'names'>): Material {
  const { secret, reference } = options;
  const mac: Material['mac'] = (body, key = secret, algorithm = 'sha256') => createHmac(algorithm, key).update(body).digest('hex');
  const body = Buffer.from(JSON.stringify({ reference }));
  return {
    ...options,
    body,
    signature: mac(body),
    mac,
    bodyWith: (more) => Buffer.from(`{"reference":${JSON.stringify(reference)},${more}}`),
  };
}

/** How a delivery differs from the genuine one. */
export interface Difference {
  readonly body?: string | Uint8Array;
  /** `undefined`: the signature of the body; `null`: no such header. */
  readonly signature?: string | null;
  readonly event?: string | null;
  /** `null`: not even the header that is there by default. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export type Verdict = Pick<Attack, 'category' | 'status' | 'accepts' | 'severity' | 'advice'>;

/** [what the receiver does, as the rest of a sentence that begins with the id; how the delivery differs; an exception]. */
export type Line = readonly [sentence: string, difference: Difference, verdict?: Partial<Verdict>];

/** Makes the attacks of one row. */
export function row(material: Material, id: string, verdict: Verdict, lines: readonly Line[]): Attack[] {
  return lines.map(([sentence, difference, exception]) => ({
    id,
    name: `${id} ${sentence}`,
    delivery: deliver(material, difference),
    ...verdict,
    ...exception,
  }));
}

function deliver({ names, body, mac }: Material, difference: Difference): DeliveryForms {
  const rawBody = Buffer.from(difference.body ?? body);
  const headers: Record<string, string | null> = {
    'content-type': contentTypeOf(rawBody),
    [names.event]: difference.event === undefined ? 'payment.succeeded' : difference.event,
    [names.signature]: difference.signature === undefined ? mac(rawBody) : difference.signature,
    ...difference.headers,
  };
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null);
  return inForms(rawBody, Object.fromEntries(given));
}

/** Statuses that acknowledge. 202 is not among them: it says that nothing has happened yet. */
export const ACKNOWLEDGED = [200, 204] as const;
