/** The next step for each Paylink code. docs/errors.md explains more. */
export const ADVICE_BY_CODE: Readonly<Record<string, string>> = {
  invalid_event: 'The X-Service-Event header is missing or is not a kind.',
  event_contradicted: 'The signed body has a status that contradicts the event.',
  invalid_payload: 'The signed body is not a JSON object with a `reference`.',
  incomplete_body: 'The body ended before its declared length.',
  invalid_signature:
    'The signature was not accepted. Compare the secrets on both sides, and verify the ' +
    'raw bytes. See paylink diagnose --help',
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
  not_credited:
    'Your credit changed no row: check that the order exists and that the WHERE matches. ' +
    'The log says more.',
  secret_unavailable: 'The function that loads the secret failed: the log has its error.',
  store_unavailable:
    'The store failed: check that the database is up and that store.migrate() ran.',
  confirm_unavailable:
    'The webhook could not ask the service about this payment: check the base URL, the ' +
    'API key and the reference.',
  payment_pending: 'The service says that this payment is pending, so pay it first.',
  in_progress: 'Another delivery of this order is in progress.',
  handler_timeout: 'Your handler took longer than `handlerTimeout`.',
};
