/** Names the order of an event, of a `settle` and of a `reconcile`, in one way for all three. */
import { WebhookError } from '@paylink/core';
import { faultOfReference, isEventKind } from '@paylink/core/internal';

/**
 * SHA-256 digests in lower-case hex, because a reference can have 10 kB and an index has a limit.
 */
export type Identity = Readonly<{
  /** Digest of tenant, kind and reference. Each key is credited once. */
  key: string;
  /** Digest of tenant and reference. Runs with the same turn never overlap. */
  turn: string;
}>;

/**
 * Returns the key under which Paylink credits an event. The key does not depend on the event's
 * bytes. A second merchant does not change the keys of a merchant without tenant.
 *
 * @throws WebhookError `invalid_reference`, `invalid_tenant` or `invalid_kind`
 */
export async function identify({
  tenant,
  kind,
  reference,
}: {
  /** The merchant whose order numbers these are. Omit it, or pass false, with one merchant. */
  readonly tenant?: string | false | undefined;
  /** The kind in the event header, such as `payment.succeeded`. */
  readonly kind: string;
  readonly reference: string;
}): Promise<Identity> {
  const owner = validateTenant(tenant);
  const fault = faultOfReference(reference);
  if (fault !== undefined) throw invalid('reference', fault);
  if (!isEventKind(kind)) throw invalid('kind', 'must be 1 to 128 of a-z, 0-9, `.`, `_` and `-`');
  // A kind contains neither colon nor bracket, so two orders never share a name.
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
  throw invalid('tenant', 'must be a non-empty string, or false for a single merchant');
}

function invalid(name: string, problem: string): WebhookError {
  return new WebhookError(`invalid_${name}`, { status: 400, message: `${name} ${problem}` });
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
