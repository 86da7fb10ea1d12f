const RAW = 'Verify the bytes as received, before any parser.';
const STORE = 'Store it as the portal shows it.';

/** Each cause with its fix, in a sentence or two. */
// oxfmt-ignore
export const MESSAGES = {
  signature_malformed:
    'The signature is not 64 lower-case hex digits. Look for a missing header, a prefix such as ' +
    '"sha256=", whitespace, quotes, a second signature, upper case, base64, another algorithm.',
  secret_invalid: 'The secret is invalid',
  secret_blanks: `Only one side has whitespace or a line break around the secret. ${STORE}`,
  secret_quoted: `Only one side has quotes around the secret. ${STORE}`,
  secret_altered: `The secrets differ in a prefix, in upper and lower case or by a "\\". ${STORE}`,
  secret_encoding: 'One side decodes the secret. The key is the UTF-8 of the portal’s characters.',
  secret_swapped: 'The secret and the body are swapped in the HMAC: the secret is the key.',
  secret_fixture: 'The sender signed with TEST_SECRET of @paylink/testing. Use one secret.',
  body_parsed: `The body is an object that a parser made, not bytes. ${RAW}`,
  body_empty: `The body is empty: a parser consumed it first. ${RAW}`,
  body_reserialized: `A JSON parser read the body, and other code wrote it again. ${RAW}`,
  body_decoded: `The body was decoded as text and encoded again. ${RAW}`,
  body_newline: 'Whitespace or a line break in or around the body was added, changed or removed.',
  body_base64: 'The body is in base64 or hex on one side: decode it, as with API Gateway.',
  body_enveloped: 'The signed text is inside other JSON, such as the `body` of an API Gateway event.',
  body_foreign: `The body is not JSON: it is cut off, compressed, escaped or a form. ${RAW}`,
  body_too_complex: 'The body is too long or too deeply nested to try every change.',
  unknown:
    'Undoing the usual faults of secret, signature and body led to no match. Most likely the ' +
    'secret belongs to another endpoint or environment, was cut off, or was replaced. Otherwise ' +
    'the signature belongs to another delivery: compare the body’s length and SHA-256.',
};

/** A stable code. Branch on codes, never on messages. */
export type DiagnosisCode = keyof typeof MESSAGES;
