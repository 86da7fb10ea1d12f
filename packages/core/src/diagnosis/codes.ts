const RAW = 'Verify the bytes as received, before any parser.';
const STORE = 'Store it as the portal shows it.';
const PASS = 'pass the header’s value unchanged.';

/** Each cause with its fix, in a sentence or two. */
// oxfmt-ignore
export const MESSAGES = {
  signature_missing: 'The signature is missing. Check that proxies forward X-Service-Signature.',
  signature_repeated: 'The delivery has more than one signature: let no proxy or code add one.',
  signature_blanks: `The signature has whitespace, separators or invisible characters: ${PASS}`,
  signature_quoted: `The signature is quoted or escaped: ${PASS}`,
  signature_prefixed: 'The signature has a prefix such as "sha256=": read X-Service-Signature.',
  signature_base64: 'The signature is in base64, or encoded twice. Sign with digest("hex").',
  signature_uppercase: `The signature is in upper-case hex: ${PASS} The service sends lower case.`,
  signature_truncated: `The signature is shorter than its 64 hex digits: ${PASS}`,
  signature_extended: `The signature has characters besides its 64 hex digits: ${PASS}`,
  signature_malformed: 'The signature is not 64 lower-case hex digits: read X-Service-Signature.',
  signature_algorithm: 'The signature is another hash. The service signs with HMAC-SHA256.',
  secret_missing: 'The secret is missing. Set its environment variable for this process.',
  secret_placeholder: 'The secret is a placeholder. Check how your code reads the environment.',
  secret_api_key: 'The secret is an API key: the portal shows another value for webhooks.',
  secret_blanks: `Only one side has whitespace or a line break in the secret. ${STORE}`,
  secret_quoted: `Only one side has quotes around the secret. ${STORE}`,
  secret_assignment: 'The secret starts with a name, as in a .env file: store only the value.',
  secret_characters: 'The secret has invisible or look-alike characters: copy it again.',
  secret_extended: `The secret has other characters around it, or is repeated. ${STORE}`,
  secret_list: 'Several secrets are in one text: pass a list of secrets.',
  secret_escaped: `One side escapes the secret, as for a URL, a shell or HTML. ${STORE}`,
  secret_case: `The secrets differ in upper and lower case. ${STORE}`,
  secret_truncated: `One side has only part of the secret, for example cut at a "$" or "#". ${STORE}`,
  secret_typo: 'The secrets differ in one character: copy the secret instead of typing it.',
  secret_swapped: 'The secret and the body are swapped in the HMAC: the secret is the key.',
  secret_masked: 'The secret is a masked copy, such as "whsec_••••". Reveal it, then copy it.',
  secret_encoding: 'One side decodes the secret. The key is the UTF-8 of the portal’s characters.',
  secret_fixture: 'The sender signed with TEST_SECRET of @paylink/testing. Use one secret.',
  body_parsed: `The body is an object that a parser made, not bytes. ${RAW}`,
  body_reserialized: `A JSON parser read the body, and other code wrote it again. ${RAW}`,
  body_buffer: `The body is a Buffer as JSON.stringify or String writes it. ${RAW}`,
  body_enveloped: 'The signed text is inside other JSON, such as the `body` of an API Gateway event.',
  body_newline: `Whitespace or a line break around the body was added or removed. ${RAW}`,
  body_line_breaks: `The line breaks of the body changed (LF, CR LF), as in a text file. ${RAW}`,
  body_bom: `A byte order mark before the body was added or removed. ${RAW}`,
  body_base64: 'The body is in base64 or hex on one side: decode it, as with API Gateway.',
  body_escaped: `The body is escaped on one side, as in a form, a URL, JSON or HTML. ${RAW}`,
  body_extended: `Quotes, padding, chunk sizes or headers surround the body's JSON. ${RAW}`,
  body_truncated: `The body is cut off, or its JSON is broken. ${RAW}`,
  body_foreign: `The body is not JSON, as the service sends it. ${RAW}`,
  body_decoded: `The body was decoded as text and encoded again. ${RAW}`,
  body_empty: `One side has an empty body: a parser consumed it first. ${RAW}`,
  body_compressed: 'The body is compressed, but the service sends plain bytes: let no proxy compress it.',
  body_too_complex:
    'The body is too long to try every change. `paylink diagnose` tries more than ' +
    'a receiver does. If it finds no cause, check that the secret belongs to this endpoint.',
  unknown:
    'Undoing the usual faults of secret, signature and body led to no match. Most likely the ' +
    'secret belongs to another endpoint or environment, or was replaced. Otherwise the signature ' +
    'belongs to another delivery: compare the body’s length and SHA-256.',
};

/** A stable code. Branch on codes, never on messages. */
export type DiagnosisCode = keyof typeof MESSAGES;
