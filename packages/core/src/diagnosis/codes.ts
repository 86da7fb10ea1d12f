const RAW_BYTES =
  'Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.';

/** Each cause with its fix. The codes are stable, the sentences are not. */
export const MESSAGES = {
  signature_missing:
    'There is no signature. Check that X-Service-Signature is read, and that a proxy lets it through.',
  signature_repeated:
    'There is more than one signature: the header was sent twice, or a proxy added one. Only one is accepted.',
  signature_blanks: 'The signature has whitespace around it: pass the header’s value as it came.',
  signature_quoted: 'The signature is in quotes: the service sends it without quotes.',
  signature_prefixed:
    'The signature has a prefix such as "sha256=": the service sends the 64 hex digits alone. Check that this is its header.',
  signature_base64:
    'The signature is in base64: the service sends lower-case hex. Sign with digest("hex").',
  signature_uppercase:
    'The signature is in upper-case hex: the service sends lower case, and no other spelling is accepted.',
  signature_truncated: 'The signature is cut off: it must have 64 hex digits.',
  signature_extended:
    'The signature has extra characters at its end: it must have 64 hex digits and nothing else.',
  signature_malformed:
    'The signature is not 64 lower-case hex digits, nor another spelling of a SHA-256. Check that this is the right header.',
  signature_algorithm:
    'The signature has the length of another hash (SHA-1 or SHA-512): the service signs with HMAC-SHA256.',
  secret_missing:
    'There is no secret. Check that its environment variable is set where this process runs.',
  secret_placeholder:
    'The secret is a placeholder, such as "undefined". Check how it is read from the environment.',
  secret_api_key:
    'The secret is an API key (sk_live_…): the merchant portal shows another value for webhooks.',
  secret_blanks:
    'The secret has whitespace or a line break at one end here and not at the signer, or the other way round: store it without.',
  secret_quoted: 'The secret is in quotes: store it without quotes.',
  secret_assignment:
    'The secret starts with its own name, as a line of a .env file does: store only what follows the "=".',
  secret_json:
    'The secret is a JSON text that holds the value, as AWS Secrets Manager keeps it. Parse the JSON, and pass the value alone.',
  secret_escaped:
    'The secret has escapes that a .env file or a shell needed, such as "\\$" or "$$" for "$". Store the value as the portal shows it.',
  secret_percent:
    'The secret is percent-encoded on one side, as in an address. Store the value as the portal shows it.',
  secret_invisible:
    'The secret holds characters that nobody sees, such as a zero-width space or a no-break space from a copy. Type it again, or paste it as plain text.',
  secret_masked:
    'The secret is a masked copy, such as "whsec_••••". Reveal it in the portal before you copy it.',
  secret_encoding:
    'One side uses the characters of the secret as the key, the other the bytes that they encode in hex or base64. The characters, as the portal shows them, are the key.',
  secret_fixture:
    'The signature was made with TEST_SECRET of @paylink/testing, and the receiver has another secret. In a test, pass the same secret to both.',
  body_parsed: `The body is an object that a parser made, not bytes. ${RAW_BYTES}`,
  body_reserialized: `A JSON parser has read the body, and it was written again with other bytes (spacing, order of keys, escapes, numbers). ${RAW_BYTES}`,
  body_buffer: `The body is the text form of a Buffer, not its bytes: JSON.stringify or String was called on it. ${RAW_BYTES}`,
  body_enveloped:
    'The signed text is inside an envelope of API Gateway, SNS or SQS (body, Message). Verify that text, decoded if isBase64Encoded is true, and not the envelope.',
  body_newline:
    'Whitespace or a line break at the start or the end of the body was added or removed: the bytes must be those that were signed. Check whether an editor saved the body, or echo sent it in place of printf.',
  body_line_breaks:
    'The line breaks of the body were changed (LF, CR LF). Check whether it was saved on another system, or sent as text.',
  body_bom: `A byte order mark in front of the body was added or removed, as text decoders and editors do. ${RAW_BYTES}`,
  body_base64:
    'The body is in base64, as Lambda and API Gateway pass it: decode it first where isBase64Encoded is true.',
  body_decoded: `The body was decoded as text and encoded again, which changed bytes. ${RAW_BYTES}`,
  body_empty:
    'The body is empty, or was when it was signed: a parser that ran first consumed it. Register the webhook above the parser.',
  body_compressed:
    'The body is compressed: the signature is over the bytes that the service sent, and it sends them without Content-Encoding.',
  body_too_complex:
    'The body is too long or too deeply nested to try every change, and the changes that were tried do not make the signature right. `paylink diagnose` tries more than a receiver does. If it finds nothing either, check that the secret is the one of this endpoint.',
  unknown:
    'No usual fault makes the signature right. Most likely the secret is another one: of another endpoint or environment, or replaced in the portal. Otherwise the body was changed in a way that leaves no trace: compare its length and SHA-256 on both sides.',
} as const;

/** A stable code. Branch on codes, never on messages. */
export type DiagnosisCode = keyof typeof MESSAGES;
