/** Each cause with its fix, in a sentence or two. */
export const MESSAGES = {
  signature_missing:
    'The signature is missing. Check that your code reads X-Service-Signature, and that proxies forward the header.',
  signature_repeated:
    'The delivery has more than one signature: the sender or a proxy added one. Paylink accepts exactly one.',
  signature_blanks:
    'The signature has whitespace, separators or invisible characters: pass the header’s value unchanged.',
  signature_quoted: 'The signature is quoted or escaped: pass the header’s value unchanged.',
  signature_prefixed:
    'The signature has a prefix such as "sha256=", but the service sends only the 64 hex digits. Check that your code reads the right header.',
  signature_base64:
    'The signature is in base64, or encoded twice, instead of hex. Sign with digest("hex").',
  signature_uppercase:
    'The signature is in upper-case hex, but the service sends lower case, and Paylink accepts nothing else.',
  signature_truncated:
    'The signature is cut off at its start, its end or in the middle: it must have 64 hex digits.',
  signature_extended: 'The signature has extra characters beside its 64 hex digits.',
  signature_malformed:
    'The signature is not a text of 64 lower-case hex digits. Check that your code reads the right header.',
  signature_algorithm:
    'The signature is another hash, such as SHA-1, SHA-512 or a SHA-256 without HMAC, but the service signs with HMAC-SHA256.',
  secret_missing: 'The secret is missing. Set its environment variable for this process.',
  secret_placeholder:
    'The secret is a placeholder, such as "undefined". Check how your code reads the environment.',
  secret_api_key:
    'The secret is an API key (sk_live_…): the merchant portal shows another value for webhooks.',
  secret_blanks:
    'Only one side has whitespace or a line break in the secret: store the secret without whitespace on both sides.',
  secret_quoted: 'The secret is in quotes on one side: store it without quotes.',
  secret_assignment:
    'The secret starts with a name, as in a .env file or a JSON: store only the value.',
  secret_characters:
    'The secret has invisible or look-alike characters, as from a web page or a chat: copy it from the portal again, with its button.',
  secret_extended:
    'The secret has characters around it, such as a semicolon, a bracket or a comment, or stands there twice: store only the value.',
  secret_list: 'Several secrets are in one text: split it, and pass a list of secrets.',
  secret_escaped:
    'One side escapes the secret, as for a URL, a shell, JSON or HTML: store it as the portal shows it.',
  secret_case: 'The secrets differ in upper and lower case: store it as the portal shows it.',
  secret_truncated:
    'One side has only a part of the secret, for example without its prefix or after a "$" or "#": copy the whole secret from the portal.',
  secret_typo: 'The secrets differ in one character: copy the secret instead of typing it.',
  secret_swapped: 'The secret and the body are swapped in the HMAC: the secret is the key.',
  secret_masked:
    'The secret is a masked copy, such as "whsec_••••". Reveal it in the portal, then copy it.',
  secret_encoding:
    'One side uses the characters of the secret as the key, the other side decodes them from hex or base64, or encodes them in another way. The key is the characters that the portal shows, in UTF-8.',
  secret_fixture:
    'The sender signed with TEST_SECRET of @paylink/testing, but the receiver has another secret. In a test, pass the same secret to both.',
  body_parsed:
    'The body is an object that a parser made, not bytes. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_reserialized:
    'A JSON parser read the body, and other code wrote it again with other bytes (spacing, order of keys, escapes, numbers). Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_buffer:
    'The body is a Buffer as JSON.stringify or String writes it. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_enveloped:
    'The signed text is inside another JSON, such as the `body` of an API Gateway event. Verify that text, and decode it first if isBase64Encoded is true.',
  body_newline:
    'Whitespace or a line break at the start or the end of the body was added or removed, as by an editor, or by echo instead of printf. Pass the signed bytes.',
  body_line_breaks:
    'The line breaks of the body changed (LF, CR LF), as if the body was saved or sent as text.',
  body_bom:
    'A byte order mark at the start of the body was added or removed, as text decoders and editors do. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_base64:
    'The body is in base64 or hex on one side: decode it, as with isBase64Encoded of API Gateway.',
  body_escaped:
    'The body is escaped on one side, as in a form, a URL, JSON or HTML. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_extended:
    'Other characters surround the JSON of the body, such as quotes, padding, chunk sizes or headers. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_truncated:
    'The body is cut off, or its JSON is broken. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_foreign:
    'The body is not JSON, as the service sends it. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_decoded:
    'Decoding the body as text and encoding it again changed its bytes. Verify the bytes as received: read the raw body before any parser, and keep parsers off this route.',
  body_empty:
    'The body is empty, or the sender signed an empty body: a parser consumed the body first. Register the webhook above the parser.',
  body_compressed: 'The body is compressed, but the service signs and sends plain bytes.',
  body_too_complex:
    'The body is too long to try every change, and the tried changes do not make the signature match. `paylink diagnose` tries more than a receiver does. If it finds no cause either, check that the secret belongs to this endpoint.',
  unknown:
    'Ruled out: quotes, whitespace, encodings, escapes and typing mistakes in the secret or the signature, and bodies that were parsed, decoded or escaped. Most likely the secret belongs to another endpoint or environment (test, live), or somebody replaced it in the portal. Otherwise the signature belongs to another delivery: compare the body’s length and SHA-256.',
};

/** A stable code. Branch on codes, never on messages. */
export type DiagnosisCode = keyof typeof MESSAGES;
