/** Names the order that an event, a settle or a reconcile is about, in one way for all three. */
import { faultOfReference, isEventKind, WebhookError } from '@paylink/core';

/** SHA-256 digests in lower-case hex: an index has a limit, and a reference can have 10 kB. */
export type Identity = Readonly<{
  /** Digest of tenant, kind and reference: each key is credited once. */
  key: string;
  /** Digest of tenant and reference: runs of one turn go one after the other. */
  turn: string;
}>;

/**
 * Gives the key under which payments credits an event, however its bytes are written. The key
 * of a merchant without tenant does not change if a second merchant comes.
 *
 * @throws WebhookError `invalid_reference`, `invalid_tenant` or `invalid_kind`
 */
export async function identify({
  tenant,
  kind,
  reference,
}: {
  /** The merchant whose order numbers these are. Leave it out, or give false, if there is one. */
  readonly tenant?: string | false | undefined;
  /** The event kind as it was sent, such as `payment.succeeded`. */
  readonly kind: string;
  readonly reference: string;
}): Promise<Identity> {
  const owner = validateTenant(tenant);
  const fault = faultOfReference(reference);
  if (fault !== undefined) throw invalid('reference', fault);
  if (!isEventKind(kind)) throw invalid('kind', 'must be 1 to 128 of a-z, 0-9, `.`, `_` and `-`');
  // A kind has no colon and no bracket, so no two orders have one name.
  const name =
    owner === undefined ? `${kind}:${reference}` : JSON.stringify([owner, kind, reference]);
  const [key, turn] = await Promise.all([
    sha256(name),
    sha256(JSON.stringify([owner ?? null, reference])),
  ]);
  return { key, turn };
}

/** @throws WebhookError `invalid_tenant` */
export function validateTenant(tenant: unknown): string | undefined {
  if (tenant === undefined || tenant === false) return undefined;
  if (typeof tenant === 'string' && tenant !== '') return tenant;
  throw invalid('tenant', 'must be a non-empty string, or false if there is one merchant');
}

function invalid(name: string, problem: string): WebhookError {
  return new WebhookError(`invalid_${name}`, { status: 400, message: `${name} ${problem}` });
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
