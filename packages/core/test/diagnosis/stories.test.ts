/** How secrets, signatures and bodies change on their way: each story with its cause. */
import { createHash, createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { diagnose } from '../../src/diagnose.js';
import type { DiagnosisCode } from '../../src/diagnosis/codes.js';
import type { DiagnoseOptions } from '../../src/diagnosis/search.js';

const SECRET = 'whsec_9fK2-xLq7Tz4_Bw8RmVd3';
const HEX = 'b5f3a9c07e21d46890ab13cd57ef2468';
const BASE64 = 'tfOpwH4h1GiQqxPNV+8kaP==';
const ODD = 'p$ss w+rd&"x\'#7/é-long-enough';
const PAYLOAD = {
  reference: 'order-42',
  amount: 15_000,
  customer: 'Zoë & Çağ',
  url: 'https://a.example/b',
};
const BODY = JSON.stringify(PAYLOAD);
const PRETTY = JSON.stringify(PAYLOAD, null, 2);
const bytes = Buffer.from(BODY);
type Key = string | Uint8Array;
const mac = (body: Key, key: Key = SECRET, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(body).digest('hex');
const RIGHT = mac(BODY);
const ascii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

type Given = Partial<Record<keyof DiagnoseOptions, unknown>>;
type Story = readonly [story: string, cause: DiagnosisCode, given: Given];
/** The receiver has this secret, and the sender the other. */
const secret = (received: unknown, sent: Key = SECRET): Given => ({
  secret: received,
  signature: mac(BODY, sent),
});
/** The receiver verifies this body, and the sender signed the other. */
const body = (received: unknown, sent: Key = BODY): Given => ({
  rawBody: received,
  signature: mac(sent),
});
const signature = (received: unknown): Given => ({ signature: received });

// oxfmt-ignore
const SECRETS: readonly Story[] = [
  ['a line feed behind', 'secret_blanks', secret(`${SECRET}\n`)],
  ['CR LF behind', 'secret_blanks', secret(`${SECRET}\r\n`)],
  ['a blank before', 'secret_blanks', secret(` ${SECRET}`)],
  ['a tab behind', 'secret_blanks', secret(`${SECRET}\t`)],
  ['the characters \\n behind', 'secret_blanks', secret(`${SECRET}\\n`)],
  ['a line break in the middle', 'secret_blanks', secret(`${SECRET.slice(0, 12)}\n${SECRET.slice(12)}`)],
  ['a line feed that only the signer has', 'secret_blanks', secret(SECRET, `${SECRET}\n`)],
  ['a no-break space behind', 'secret_blanks', secret(`${SECRET}\u00a0`)],
  ['single quotes', 'secret_quoted', secret(`'${SECRET}'`)],
  ['double quotes', 'secret_quoted', secret(`"${SECRET}"`)],
  ['backticks', 'secret_quoted', secret(`\`${SECRET}\``)],
  ['one quote', 'secret_quoted', secret(`"${SECRET}`)],
  ['escaped quotes', 'secret_quoted', secret(`\\"${SECRET}\\"`)],
  ['curly quotes', 'secret_quoted', secret(`“${SECRET}”`)],
  ['French quotes', 'secret_quoted', secret(`«\u00a0${SECRET}\u00a0»`)],
  ['quotes that only the signer has', 'secret_quoted', secret(SECRET, `"${SECRET}"`)],
  ['its name before', 'secret_assignment', secret(`WEBHOOK_SECRET=${SECRET}`)],
  ['export and its name', 'secret_assignment', secret(`export WEBHOOK_SECRET="${SECRET}"`)],
  ['its name as in YAML', 'secret_assignment', secret(`webhook_secret: ${SECRET}`)],
  ['a JSON of a secret store', 'secret_assignment', secret(JSON.stringify({ WEBHOOK_SECRET: SECRET }))],
  ['Bearer before', 'secret_assignment', secret(`Bearer ${SECRET}`)],
  ['a zero-width space behind', 'secret_characters', secret(`${SECRET}\u200b`)],
  ['a zero-width space in it', 'secret_characters', secret(`${SECRET.slice(0, 9)}\u200b${SECRET.slice(9)}`)],
  ['a soft hyphen in it', 'secret_characters', secret(`${SECRET.slice(0, 9)}\u00ad${SECRET.slice(9)}`)],
  ['a long dash', 'secret_characters', secret(SECRET.replace('-', '–'))],
  ['a Cyrillic letter', 'secret_characters', secret(SECRET.replace('e', 'е'))],
  ['another Unicode form', 'secret_characters', secret(ODD.normalize('NFD'), ODD)],
  ['full-width digits', 'secret_characters', secret(SECRET.replace('9', '９'))],
  ['a semicolon behind', 'secret_extended', secret(`${SECRET};`)],
  ['a comma behind', 'secret_extended', secret(`${SECRET},`)],
  ['angle brackets', 'secret_extended', secret(`<${SECRET}>`)],
  ['quotes and a comma', 'secret_extended', secret(`"${SECRET}",`)],
  ['a comment behind', 'secret_extended', secret(`${SECRET} # of the portal`)],
  ['itself twice', 'secret_extended', secret(SECRET + SECRET)],
  ['the old secret behind a comma', 'secret_list', secret(`${SECRET},an-old-secret-0123`)],
  ['a new secret before a blank', 'secret_list', secret(`a-new-secret-01234 ${SECRET}`)],
  ['two lines', 'secret_list', secret(`a-new-secret-01234\n${SECRET}`)],
  ['URL escapes', 'secret_escaped', secret(encodeURIComponent(ODD), ODD)],
  ['URL escapes at the signer', 'secret_escaped', secret(ODD, encodeURIComponent(ODD))],
  ['a blank for its plus', 'secret_escaped', secret(BASE64.replace('+', ' '), BASE64)],
  ['HTML escapes', 'secret_escaped', secret('a&amp;b&quot;c-long-enough', 'a&b"c-long-enough')],
  ['JSON escapes', 'secret_escaped', secret('a\\"b\\\\c-long-enough', 'a"b\\c-long-enough')],
  ['a shell escape', 'secret_escaped', secret('pa\\$s-long-enough', 'pa$s-long-enough')],
  ['a doubled dollar', 'secret_escaped', secret('pa$$s-long-enough', 'pa$s-long-enough')],
  ['hex in capitals', 'secret_case', secret(HEX.toUpperCase(), HEX)],
  ['lower case', 'secret_case', secret(SECRET.toLowerCase(), SECRET.toLowerCase().toUpperCase())],
  ['hex that the signer decodes', 'secret_encoding', secret(HEX, Buffer.from(HEX, 'hex'))],
  ['hex that the receiver decodes', 'secret_encoding', secret(Buffer.from(HEX, 'hex'), HEX)],
  ['base64 that the signer decodes', 'secret_encoding', secret('c2VjcmV0LWtleQ==', 'secret-key')],
  ['base64 that the receiver decodes', 'secret_encoding', secret('secret-key', 'c2VjcmV0LWtleQ==')],
  ['a prefix and base64 that the signer decodes', 'secret_encoding', secret('whsec_c2VjcmV0LWtleQ==', 'secret-key')],
  ['base64 instead of hex', 'secret_encoding', secret(Buffer.from(HEX, 'hex').toString('base64'), HEX)],
  ['base64url', 'secret_encoding', secret('ab-d_fgh-ijklmnop', 'ab+d/fgh+ijklmnop')],
  ['base64 without padding', 'secret_encoding', secret('tfOpwH4h1GiQqxPNV8kaPw', 'tfOpwH4h1GiQqxPNV8kaPw==')],
  ['UTF-16', 'secret_encoding', secret(SECRET, Buffer.from(SECRET, 'utf16le'))],
  ['Latin-1', 'secret_encoding', secret('clé-très-secrète', Buffer.from('clé-très-secrète', 'latin1'))],
  ['no prefix', 'secret_truncated', secret(SECRET.slice(6))],
  ['a prefix that the signer has not', 'secret_truncated', secret(SECRET, SECRET.slice(6))],
  ['no last character', 'secret_truncated', secret(SECRET.slice(0, -1))],
  ['no first character', 'secret_truncated', secret(SECRET.slice(1))],
  ['more than the signer, who cut it at $', 'secret_truncated', secret('pass-word-$x-long', 'pass-word-')],
  ['0 for O', 'secret_typo', secret('aOb-typed-by-hand', 'a0b-typed-by-hand')],
  ['l for 1', 'secret_typo', secret('a1b-typed-by-hand', 'alb-typed-by-hand')],
  ['two characters swapped', 'secret_typo', secret('ab-tpyed-by-hand', 'ab-typed-by-hand')],
  ['one character twice', 'secret_typo', secret('ab-tyyped-by-hand', 'ab-typed-by-hand')],
  ['one character missing', 'secret_typo', secret('ab-tped-by-hand', 'ab-typed-by-hand')],
  ['the place of the body', 'secret_swapped', { signature: mac(SECRET, BODY) }],
  ['the value of the test kit at the signer', 'secret_fixture', secret(SECRET, 'paylink-testing-secret-not-for-production')],
  ['only dots', 'secret_masked', secret('whsec_•••1234')],
  ['stars', 'secret_masked', secret('whsec_********4f2a')],
  ['the API key', 'secret_api_key', secret('sk_live_abc.0123456789')],
  ['the text undefined', 'secret_placeholder', secret('undefined')],
  ['nothing', 'secret_missing', secret(undefined)],
  ['the value of another endpoint', 'unknown', secret('whsec_of-the-live-endpoint')],
];

const base64 = Buffer.from(RIGHT, 'hex').toString('base64');
// oxfmt-ignore
const SIGNATURES: readonly Story[] = [
  ['blanks around it', 'signature_blanks', signature(` ${RIGHT}\n`)],
  ['a zero-width space behind', 'signature_blanks', signature(`${RIGHT}\u200b`)],
  ['colons', 'signature_blanks', signature(RIGHT.match(/../g)!.join(':'))],
  ['a line break in the middle', 'signature_blanks', signature(`${RIGHT.slice(0, 32)}\n${RIGHT.slice(32)}`)],
  ['double quotes', 'signature_quoted', signature(`"${RIGHT}"`)],
  ['angle brackets', 'signature_quoted', signature(`<${RIGHT}>`)],
  ['the prefix of GitHub', 'signature_prefixed', signature(`sha256=${RIGHT}`)],
  ['the prefix of Stripe', 'signature_prefixed', signature(`t=1700000000,v1=${RIGHT}`)],
  ['the prefix of Svix', 'signature_prefixed', signature(`v1,${RIGHT}`)],
  ['0x', 'signature_prefixed', signature(`0x${RIGHT}`)],
  ['the name of the header', 'signature_prefixed', signature(`X-Service-Signature: ${RIGHT}`)],
  ['a scheme', 'signature_prefixed', signature(`HMAC-SHA256 ${RIGHT}`)],
  ['base64', 'signature_base64', signature(base64)],
  ['base64url', 'signature_base64', signature(Buffer.from(RIGHT, 'hex').toString('base64url'))],
  ['base64 of its digits', 'signature_base64', signature(Buffer.from(RIGHT).toString('base64'))],
  ['hex of its digits', 'signature_base64', signature(Buffer.from(RIGHT).toString('hex'))],
  ['capitals', 'signature_uppercase', signature(RIGHT.toUpperCase())],
  ['mixed case', 'signature_uppercase', signature(RIGHT.slice(0, 32).toUpperCase() + RIGHT.slice(32))],
  ['no last digits', 'signature_truncated', signature(RIGHT.slice(0, 60))],
  ['no first seven digits, as behind slice(7)', 'signature_truncated', signature(RIGHT.slice(7))],
  ['an ellipsis in the middle', 'signature_truncated', signature(`${RIGHT.slice(0, 8)}…${RIGHT.slice(-8)}`)],
  ['an ellipsis at the end', 'signature_truncated', signature(`${RIGHT.slice(0, 12)}...`)],
  ['digits behind', 'signature_extended', signature(`${RIGHT}00`)],
  ['a semicolon behind', 'signature_extended', signature(`${RIGHT};`)],
  ['a second copy', 'signature_repeated', signature(`${RIGHT}, ${RIGHT}`)],
  ['a list with another', 'signature_repeated', signature(['0'.repeat(64), RIGHT])],
  ['bytes', 'signature_malformed', signature(Buffer.from(RIGHT, 'hex'))],
  ['no value', 'signature_missing', signature(undefined)],
  ['the text undefined', 'signature_missing', signature('undefined')],
  ['another text', 'signature_malformed', signature('payment.succeeded')],
  ['a SHA-1', 'signature_algorithm', signature(mac(BODY, SECRET, 'sha1'))],
  ['a SHA-512', 'signature_algorithm', signature(mac(BODY, SECRET, 'sha512'))],
  ['an MD5', 'signature_algorithm', signature(mac(BODY, SECRET, 'md5'))],
  ['a SHA-256 of the body alone', 'signature_algorithm', signature(createHash('sha256').update(BODY).digest('hex'))],
  ['a SHA-256 of secret and body', 'signature_algorithm', signature(createHash('sha256').update(SECRET + BODY).digest('hex'))],
];

const small = '{"reference":"order-42","amount":15000}';
// oxfmt-ignore
const BODIES: readonly Story[] = [
  ['became compact', 'body_reserialized', body(BODY, PRETTY)],
  ['was pretty-printed', 'body_reserialized', body(PRETTY)],
  ['lost its indents of four', 'body_reserialized', body(BODY, JSON.stringify(PAYLOAD, null, 4))],
  ['lost its tabs', 'body_reserialized', body(BODY, JSON.stringify(PAYLOAD, null, '\t'))],
  ['got tabs', 'body_reserialized', body(JSON.stringify(PAYLOAD, null, '\t'))],
  ['was spaced by Python', 'body_reserialized', body('{"reference": "order-42", "amount": 15000}', small)],
  ['lost the spaces of Python', 'body_reserialized', body(small, '{"reference": "order-42", "amount": 15000}')],
  ['lost the spaces of Jackson', 'body_reserialized', body(small, '{\n  "reference" : "order-42",\n  "amount" : 15000\n}')],
  ['had its keys sorted', 'body_reserialized', body('{"amount":15000,"reference":"order-42"}', small)],
  ['had three keys in another order', 'body_reserialized', body('{"b":1,"c":2,"a":3}', '{"c":2,"a":3,"b":1}')],
  ['went through jsonb', 'body_reserialized', body('{"amount": 15000, "reference": "order-42"}', small)],
  ['had escapes of Unicode', 'body_reserialized', body(BODY, ascii(BODY))],
  ['got escapes of Unicode', 'body_reserialized', body(ascii(BODY))],
  ['had escapes of slashes, as PHP', 'body_reserialized', body(BODY, ascii(BODY).replaceAll('/', '\\/'))],
  ['had escapes of &, as Go', 'body_reserialized', body(BODY, BODY.replace('&', '\\u0026'))],
  ['had capitals in escapes', 'body_reserialized', body('{"a":"é"}', '{"a":"\\u00E9"}')],
  ['had 15000.0', 'body_reserialized', body('{"a":15000}', '{"a":15000.0}')],
  ['had 15000.00', 'body_reserialized', body('{"a":15000}', '{"a":15000.00}')],
  ['had 1e3', 'body_reserialized', body('{"a":1000}', '{"a":1e3}')],
  ['got 15000.0', 'body_reserialized', body('{"a":15000.0}', '{"a":15000}')],
  ['got a number as text', 'body_reserialized', body('{"a":"15000"}', '{"a":15000}')],
  ['had a number as text', 'body_reserialized', body('{"a":15000}', '{"a":"15000"}')],
  ['kept its large number, and lost its spaces', 'body_reserialized', body('{"a":12345678901234567890}', '{"a": 12345678901234567890}')],
  ['had its large number rounded', 'body_reserialized', body('{"a":12345678901234567000}', '{"a":12345678901234567890}')],
  ['had lists and empty values spaced', 'body_reserialized', body('{"a":[1,"b"],"c":[],"d":{}}', JSON.stringify({ a: [1, 'b'], c: [], d: {} }, null, 2))],
  ['was a spaced list', 'body_reserialized', body('[{"a":1},2]', '[{"a": 1}, 2]')],
  ['is a JSON text within a JSON text', 'body_reserialized', body(JSON.stringify(BODY))],
  ['is a Buffer as JSON', 'body_buffer', body(JSON.stringify(bytes))],
  ['is a Uint8Array as JSON', 'body_buffer', body(JSON.stringify(new Uint8Array(bytes)))],
  ['is a Uint8Array as text', 'body_buffer', body(String(new Uint8Array(bytes)))],
  ['is in an event of API Gateway', 'body_enveloped', body(JSON.stringify({ httpMethod: 'POST', body: BODY }))],
  ['is in such an event in base64', 'body_enveloped', body(JSON.stringify({ body: bytes.toString('base64'), isBase64Encoded: true }))],
  ['is in a record of SQS', 'body_enveloped', body(JSON.stringify({ Records: [{ messageId: '1', body: BODY }] }))],
  ['is an object in an envelope', 'body_enveloped', body(JSON.stringify({ detail: PAYLOAD }))],
  ['lost its line feed', 'body_newline', body(BODY, `${BODY}\n`)],
  ['lost its CR LF', 'body_newline', body(BODY, `${BODY}\r\n`)],
  ['got a line feed', 'body_newline', body(`${BODY}\n`)],
  ['got blanks around it', 'body_newline', body(`  ${BODY} `)],
  ['got CRs', 'body_line_breaks', body(PRETTY.replaceAll('\n', '\r\n'), PRETTY)],
  ['lost its CRs', 'body_line_breaks', body(PRETTY, PRETTY.replaceAll('\n', '\r\n'))],
  ['got a byte order mark', 'body_bom', body(`\ufeff${BODY}`)],
  ['lost its byte order mark', 'body_bom', body(BODY, `\ufeff${BODY}`)],
  ['is in base64', 'body_base64', body(bytes.toString('base64'))],
  ['is in base64url', 'body_base64', body(bytes.toString('base64url'))],
  ['is in hex', 'body_base64', body(bytes.toString('hex'))],
  ['was signed in base64', 'body_base64', body(BODY, bytes.toString('base64'))],
  ['was decoded as Latin-1', 'body_decoded', body(bytes.toString('latin1'))],
  ['was signed in Latin-1', 'body_decoded', body('{"a":"é"}', Buffer.from('{"a":"é"}', 'latin1'))],
  ['is in Latin-1', 'body_decoded', body(Buffer.from('{"a":"é"}', 'latin1'), '{"a":"é"}')],
  ['is in UTF-16', 'body_decoded', body(Buffer.from(BODY, 'utf16le'))],
  ['is in another Unicode form', 'body_decoded', body('{"a":"é"}'.normalize('NFD'), '{"a":"é"}')],
  ['has replaced bytes', 'body_decoded', body('{"reference":"\ufffd"}')],
  ['has URL escapes', 'body_escaped', body(encodeURIComponent(BODY))],
  ['is a field of a form', 'body_escaped', body(`payload=${encodeURIComponent(BODY)}`)],
  ['is the key of a form', 'body_escaped', body(JSON.stringify({ [small]: '' }), small)],
  ['was made a form', 'body_escaped', body('reference=order-42&amount=15000')],
  ['has HTML escapes', 'body_escaped', body(small.replaceAll('"', '&quot;'), small)],
  ['has JSON escapes', 'body_escaped', body(small.replaceAll('"', '\\"'), small)],
  ['is in single quotes', 'body_extended', body(`'${BODY}'`)],
  ['is a byte string of Python', 'body_extended', body(`b'${small}'`, small)],
  ['has padding of NUL', 'body_extended', body(Buffer.concat([bytes, Buffer.alloc(40)]))],
  ['has the sizes of its chunks', 'body_extended', body(`27\r\n${small}\r\n0\r\n\r\n`, small)],
  ['has the headers before it', 'body_extended', body(`POST / HTTP/1.1\r\nHost: a\r\n\r\n${BODY}`)],
  ['was cut off', 'body_truncated', body(BODY.slice(0, -9))],
  ['is XML', 'body_foreign', body('<payment><reference>order-42</reference></payment>')],
  ['is an object', 'body_parsed', body(PAYLOAD)],
  ['is [object Object]', 'body_parsed', body('[object Object]')],
  ['is a dictionary of Python', 'body_parsed', body("{'reference': 'order-42', 'amount': 15000}")],
  ['is a map of Java', 'body_parsed', body('{reference=order-42, amount=15000}')],
  ['is an object of JavaScript', 'body_parsed', body("{ reference: 'order-42', amount: 15000 }")],
  ['is a hash of Ruby', 'body_parsed', body('{"reference"=>"order-42", "amount"=>15000}')],
  ['is empty', 'body_empty', body('')],
  ['is {}', 'body_empty', body('{}')],
  ['was empty when it was signed', 'body_empty', body(BODY, '')],
  ['is compressed', 'body_compressed', body(gzipSync(BODY))],
  ['is of another delivery', 'unknown', body('{"reference":"order-43"}')],
];

/** No signature proves these causes, or the cause of these stories. */
const UNPROVEN =
  /^(?:unknown|signature_(?:missing|malformed)|secret_(?:missing|masked|placeholder|api_key)|body_(?:parsed|foreign|compressed))$/;
const UNPROVEN_STORIES =
  /^a (?:signature with an? (?:SHA-1|SHA-512|MD5)|body that (?:had its large number rounded|has replaced bytes|was made a form|was cut off|is empty|is \{\}))$/;

it.each([
  ...SECRETS.map(([story, ...rest]): Story => [`a secret with ${story}`, ...rest]),
  ...SIGNATURES.map(([story, ...rest]): Story => [`a signature with ${story}`, ...rest]),
  ...BODIES.map(([story, ...rest]): Story => [`a body that ${story}`, ...rest]),
])('names the cause of %s, and quotes nothing of it', async (story, cause, given) => {
  const whole = { rawBody: bytes, signature: RIGHT, secret: SECRET, ...given } as DiagnoseOptions;
  const diagnosis = await diagnose(whole);
  const causes = diagnosis.causes.map(({ code, proven }) => ({ code, proven }));
  const proven = !UNPROVEN.test(cause) && !UNPROVEN_STORIES.test(story);
  expect({ cause: diagnosis.cause, causes }).toEqual({ cause, causes: [{ code: cause, proven }] });
  for (const text of [SECRET, HEX, BASE64, RIGHT, RIGHT.toUpperCase(), 'order-42', 'Zoë'])
    expect(JSON.stringify(diagnosis)).not.toContain(text);
});

const deep = `${'['.repeat(40)}${']'.repeat(40)}`;
it.each([
  ['a body nested too deeply to be written again', { rawBody: deep, signature: mac(` ${deep}x`) }],
  ['a secret too long for its neighbours', secret('k'.repeat(101), 'another'.repeat(20))],
  ['a signature with a broken escape', signature(`%zz${RIGHT.slice(0, 20)}`)],
] satisfies [string, Given][])('diagnose claims no wrong cause for %s', async (_story, given) => {
  const options = { rawBody: bytes, signature: RIGHT, secret: SECRET, ...given } as DiagnoseOptions;
  const { cause } = await diagnose(options);
  expect(['unknown', 'body_too_complex', 'signature_malformed']).toContain(cause);
});
