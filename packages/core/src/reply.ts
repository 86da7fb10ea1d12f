/** What goes back to the sender. The one place that knows statuses: the contract shows none, so these are our choices. */

/** A reply as an adapter writes it. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  readonly body: string;
  /** What the merchant's handler returned; only an adapter looks at it. */
  readonly value?: unknown;
}

/** The codes that Paylink itself replies with; docs/errors.md has a heading for each. */
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
  secret_unavailable: 503,
  store_unavailable: 503,
  confirm_unavailable: 503,
  payment_pending: 503,
  in_progress: 503,
  handler_timeout: 503,
  nothing_written: 503,
} as const;

/** Headers that a status asks for: RFC 9110 sections 11.6.1, 15.5.6 and 10.2.3. */
const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Signature' },
  405: { allow: 'POST' },
  503: { 'retry-after': '5' },
};

export function statusOf(code: string): number | undefined {
  return Object.hasOwn(STATUSES, code) ? STATUSES[code as WebhookErrorCode] : undefined;
}

/** The acknowledgement: the effect is durable, or the notification was knowingly ignored. */
export function acknowledge(value?: unknown): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{"received":true}', value };
}

/** The reply to an error: its code and nothing else, so that a stranger learns nothing. For an adapter's own errors. */
export function errorReply({ code, status }: { readonly code: string; readonly status: number }): Reply {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...HEADERS[status] };
  // An order that is not there yet may take a minute; a query that matches nothing changes no more in five seconds.
  if (code === 'nothing_written') headers['retry-after'] = '60';
  return { status, headers, body: JSON.stringify({ error: code }) };
}
