/** The reply to the sender, and the only table of statuses. The contract defines no statuses. */

/** A reply for an adapter to write. */
export interface Reply {
  readonly status: number;
  /** Header names are lower-case. */
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Paylink's codes. docs/errors.md explains each code. */
export type WebhookErrorCode = keyof typeof STATUSES;

const STATUSES = {
  invalid_event: 400,
  event_contradicted: 400,
  invalid_payload: 400,
  incomplete_body: 400,
  invalid_signature: 401,
  method_not_allowed: 405,
  body_timeout: 408,
  amount_differs: 409,
  order_closed: 409,
  body_too_large: 413,
  unsupported_encoding: 415,
  misconfigured: 500,
  handler_failed: 500,
  body_consumed: 500,
  invalid_order: 500,
  unknown_order: 503,
  no_payment: 503,
  payment_pending: 503,
  not_credited: 503,
  orders_unavailable: 503,
  confirm_unavailable: 503,
  secret_unavailable: 503,
  handler_timeout: 503,
} as const;

/** Milliseconds after which the sender may try again, for the header `Retry-After` of a 503. */
const RETRY_AFTER = 5_000;
/** An order may need a minute to appear. A wrong WHERE clause would fail again in five seconds. */
const RETRY_AFTER_NOT_CREDITED = 60_000;
const LONGEST_RETRY_AFTER = 86_400_000;

/** Returns the status of a Paylink code, or undefined for a code of the merchant's own. */
export function statusOfCode(code: string): number | undefined {
  return Object.hasOwn(STATUSES, code) ? STATUSES[code as WebhookErrorCode] : undefined;
}

/** The effect is durable, or the receiver ignores this kind on purpose. */
export function acknowledge(): Reply {
  const headers = { 'content-type': 'application/json' };
  return { status: 200, headers, body: '{"received":true}' };
}

/** The part of a failure that the sender learns. */
export interface Refusal {
  readonly code: string;
  readonly status: number;
  /** In milliseconds. */
  readonly retryAfter?: number | undefined;
}

/** A stranger learns only the code. The headers are of RFC 9110 (11.6.1, 15.5.6, 10.2.3). */
export function errorReply({ code, status, retryAfter }: Refusal): Reply {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (status === 401) headers['www-authenticate'] = 'Signature';
  if (status === 405) headers['allow'] = 'POST';
  if (status === 503) {
    const byCode = code === 'not_credited' ? RETRY_AFTER_NOT_CREDITED : RETRY_AFTER;
    const seconds = Math.ceil(Math.min(retryAfter ?? byCode, LONGEST_RETRY_AFTER) / 1_000);
    headers['retry-after'] = String(Math.max(1, seconds));
  }
  return { status, headers, body: JSON.stringify({ error: code }) };
}
