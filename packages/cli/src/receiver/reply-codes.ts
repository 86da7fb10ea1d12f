/** The next step for each Paylink code. docs/errors.md explains more. */
export const ADVICE_BY_CODE: Readonly<Record<string, string>> = {
  invalid_event: 'The X-Service-Event header is missing or is not a kind.',
  event_contradicted: 'The signed body has a status that contradicts the event.',
  invalid_payload:
    'The signed body is not a JSON object with a `reference`, or your schema rejected it.',
  incomplete_body: 'The body does not have its declared length: read the log.',
  invalid_signature:
    'The signature was not accepted (see npx --no-install paylink diagnose --help). Compare ' +
    'the secrets on both sides, and verify the raw bytes.',
  method_not_allowed: 'The path exists, but not for this method.',
  body_timeout: 'The body did not arrive in time.',
  body_too_large: 'The body is longer than `bodyLimit`.',
  unsupported_encoding:
    'The body arrived compressed (Content-Encoding), but the service sends it ' +
    'uncompressed: a proxy or tunnel in between compresses it.',
  misconfigured: 'The webhook is misconfigured: its log names the option.',
  handler_failed: 'Your handler threw an error: read the log.',
  body_consumed:
    'A body parser reads the body before the webhook: mount the webhook before it. The ' +
    'log names the line.',
  not_credited: 'Your `credit` ran, but the order is still unpaid: see paylink explain --help',
  unknown_order:
    'Your `find` returned no order with this reference: use the reference of an existing order.',
  invalid_order: 'Your `find` returned an invalid field: the log names the field.',
  order_closed: 'The order is closed, so this payment needs a manual decision.',
  amount_differs:
    "The payment's amount or currency differs from the order's, so it needs a manual decision.",
  orders_unavailable:
    'Your `find` or `credit` failed: check the database. The log contains the error.',
  no_payment: 'The service has no payment for this order: create its link, and pay it.',
  secret_unavailable: 'The function that loads the secret failed: the log names the error.',
  confirm_unavailable:
    'The webhook could not ask the service about this payment: check the base URL, the ' +
    'API key and the reference.',
  payment_pending: 'The service says that this payment is pending, so pay it first.',
  handler_timeout: 'Your handler, a run of `payments` or your schema took too long: read the log.',
};
