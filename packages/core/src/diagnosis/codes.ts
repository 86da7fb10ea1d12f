const RAW_BYTES =
  'Verify the bytes as received: read the raw body before any parser, and keep parsers off this ' +
  'route.';

/** Each cause with its fix. The codes are stable, the sentences are not. */
export const MESSAGES = {
  signature_missing:
    'The signature is missing. Check that your code reads X-Service-Signature, and that ' +
    'proxies forward the header.',
  signature_repeated:
    'The delivery has more than one signature: the sender or a proxy added one. Paylink accepts ' +
    'exactly one.',
  signature_blanks: 'The signature has whitespace around it: pass the header’s value unchanged.',
  signature_quoted: 'The signature is in quotes, but the service sends no quotes.',
  signature_prefixed:
    'The signature has a prefix such as "sha256=", but the service sends only the 64 hex ' +
    'digits. Check that your code reads the right header.',
  signature_base64: 'The signature is in base64 instead of hex. Sign with digest("hex").',
  signature_uppercase:
    'The signature is in upper-case hex, but the service sends lower case, and Paylink ' +
    'accepts nothing else.',
  signature_truncated: 'The signature is cut off: it must have 64 hex digits.',
  signature_extended: 'The signature has extra characters after its 64 hex digits.',
  signature_malformed:
    'The signature is not 64 lower-case hex digits. Check that your code reads the right header.',
  signature_algorithm:
    'The signature is a SHA-1 or SHA-512 by its length, but the service signs with HMAC-SHA256.',
  secret_missing: 'The secret is missing. Set its environment variable for this process.',
  secret_placeholder:
    'The secret is a placeholder, such as "undefined". Check how your code reads the environment.',
  secret_api_key:
    'The secret is an API key (sk_live_…): the merchant portal shows another value for webhooks.',
  secret_blanks:
    'Only one side has whitespace or a line break at one end of the secret: store the secret ' +
    'without whitespace on both sides.',
  secret_quoted: 'The secret is in quotes: store it without quotes.',
  secret_assignment:
    'The secret starts with its own name, as in a .env file: store only the part after the "=".',
  secret_masked:
    'The secret is a masked copy, such as "whsec_••••". Reveal it in the portal, then copy it.',
  secret_encoding:
    'One side uses the characters of the secret as the key, the other side decodes them ' +
    'from hex or base64 first. The key is the characters that the portal shows.',
  secret_fixture:
    'The sender signed with TEST_SECRET of @paylink/testing, but the receiver has another ' +
    'secret. In a test, pass the same secret to both.',
  body_parsed: `The body is an object that a parser made, not bytes. ${RAW_BYTES}`,
  body_reserialized:
    'A JSON parser read the body, and other code wrote it again with other bytes (spacing, ' +
    `order of keys, escapes, numbers). ${RAW_BYTES}`,
  body_buffer: `The body is a Buffer as JSON.stringify or String writes it. ${RAW_BYTES}`,
  body_enveloped:
    'The signed text is in the `body` of an API Gateway event. Verify that text instead of the ' +
    'event, and decode it first if isBase64Encoded is true.',
  body_newline:
    'Whitespace or a line break at the start or the end of the body was added or removed, as by ' +
    'an editor, or by echo instead of printf. Pass the signed bytes.',
  body_line_breaks:
    'The line breaks of the body changed (LF, CR LF), as if the body was saved or sent as text.',
  body_bom:
    'A byte order mark at the start of the body was added or removed, as text decoders and ' +
    `editors do. ${RAW_BYTES}`,
  body_base64:
    'The body is in base64, as API Gateway passes it: decode it if isBase64Encoded is true.',
  body_decoded: `Decoding the body as text and encoding it again changed its bytes. ${RAW_BYTES}`,
  body_empty:
    'The body is empty, or the sender signed an empty body: a parser consumed the body first. ' +
    'Register the webhook above the parser.',
  body_compressed: 'The body is compressed, but the service signs and sends plain bytes.',
  body_too_complex:
    'The body is too long or too deeply nested to try every change, and the tried changes do ' +
    'not make the signature match. `paylink diagnose` tries more than a receiver does. If ' +
    '`paylink diagnose` finds no cause either, check that the secret belongs to this endpoint.',
  unknown:
    'The usual changes do not make the signature match. Most likely the secret is wrong: it ' +
    'belongs to another endpoint or environment, or somebody replaced it in the portal. ' +
    'Otherwise the body changed without a trace: compare its length and SHA-256 on both sides.',
} as const;

/** A stable code. Branch on codes, never on messages. */
export type DiagnosisCode = keyof typeof MESSAGES;
