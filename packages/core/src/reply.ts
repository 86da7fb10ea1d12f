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
  body_too_large: 413,
  unsupported_encoding: 415,
  misconfigured: 500,
  handler_failed: 500,
  body_consumed: 500,
  not_credited: 503,
  secret_unavailable: 503,
  store_unavailable: 503,
  confirm_unavailable: 503,
  payment_pending: 503,
  in_progress: 503,
  handler_timeout: 503,
} as const;

/** Headers that a status requires: RFC 9110 sections 11.6.1, 15.5.6 and 10.2.3. */
const HEADERS = new Map<number, Readonly<Record<string, string>>>([
  [401, { 'www-authenticate': 'Signature' }],
  [405, { allow: 'POST' }],
  [503, { 'retry-after': '5' }],
]);

/** Returns the status of a Paylink code, or undefined for a code of the merchant's own. */
export function statusOf(code: string): number | undefined {
  return Object.hasOwn(STATUSES, code) ? STATUSES[code as WebhookErrorCode] : undefined;
}

/**
 * Returns the acknowledgement: the effect is durable, or the receiver ignores this kind on purpose.
 */
export function acknowledge(): Reply {
  const headers = { 'content-type': 'application/json' };
  return { status: 200, headers, body: '{"received":true}' };
}

/**
 * Returns the reply to an error. The body contains only the code, so that a stranger learns
 * nothing.
 */
export function errorReply(error: { readonly code: string; readonly status: number }): Reply {
  const { code, status } = error;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...HEADERS.get(status),
  };
  // An order may need a minute to appear. A wrong WHERE clause would fail again in five seconds.
  if (code === 'not_credited') headers['retry-after'] = '60';
  return { status, headers, body: JSON.stringify({ error: code }) };
}
