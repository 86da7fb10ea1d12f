/** How secrets, signatures and bodies change on their way: each story with its cause. */
import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { diagnose } from '../../src/diagnose.js';
import type { DiagnosisCode } from '../../src/diagnosis/codes.js';
import { search, type DiagnoseOptions } from '../../src/diagnosis/search.js';

const SECRET = 'whsec_9fK2-xLq7Tz4_Bw8RmVd3';
const HEX = 'b5f3a9c07e21d46890ab13cd57ef2468';
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
  ['a blank before', 'secret_blanks', secret(` ${SECRET}`)],
  ['the characters \\n behind', 'secret_blanks', secret(`${SECRET}\\n`)],
  ['a line break in the middle', 'secret_blanks', secret(`${SECRET.slice(0, 12)}\n${SECRET.slice(12)}`)],
  ['a line feed that only the signer has', 'secret_blanks', secret(SECRET, `${SECRET}\n`)],
  ['single quotes', 'secret_quoted', secret(`'${SECRET}'`)],
  ['double quotes', 'secret_quoted', secret(`"${SECRET}"`)],
  ['escaped quotes', 'secret_quoted', secret(`\\"${SECRET}\\"`)],
  ['curly quotes', 'secret_quoted', secret(`“${SECRET}”`)],
  ['quotes that only the signer has', 'secret_quoted', secret(SECRET, `"${SECRET}"`)],
  ['its name before', 'secret_assignment', secret(`WEBHOOK_SECRET=${SECRET}`)],
  ['a JSON of a secret store', 'secret_assignment', secret(JSON.stringify({ WEBHOOK_SECRET: SECRET }))],
  ['Bearer before', 'secret_assignment', secret(`Bearer ${SECRET}`)],
  ['a zero-width space in it', 'secret_characters', secret(`${SECRET.slice(0, 9)}\u200b${SECRET.slice(9)}`)],
  ['a long dash', 'secret_characters', secret(SECRET.replace('-', '–'))],
  ['full-width digits', 'secret_characters', secret(SECRET.replace('9', '９'))],
  ['a semicolon behind', 'secret_extended', secret(`${SECRET};`)],
  ['angle brackets', 'secret_extended', secret(`<${SECRET}>`)],
  ['quotes and a comma', 'secret_extended', secret(`"${SECRET}",`)],
  ['a comment behind', 'secret_extended', secret(`${SECRET} # of the portal`)],
  ['itself twice', 'secret_extended', secret(SECRET + SECRET)],
  ['the old secret behind a comma', 'secret_list', secret(`${SECRET},an-old-secret-0123`)],
  ['URL escapes', 'secret_escaped', secret(encodeURIComponent(ODD), ODD)],
  ['URL escapes at the signer', 'secret_escaped', secret(ODD, encodeURIComponent(ODD))],
  ['HTML escapes', 'secret_escaped', secret('a&amp;b&quot;c-long-enough', 'a&b"c-long-enough')],
  ['JSON escapes', 'secret_escaped', secret('a\\"b\\\\c-long-enough', 'a"b\\c-long-enough')],
  ['a shell escape', 'secret_escaped', secret('pa\\$s-long-enough', 'pa$s-long-enough')],
  ['hex in capitals', 'secret_case', secret(HEX.toUpperCase(), HEX)],
  ['hex that the signer decodes', 'secret_encoding', secret(HEX, Buffer.from(HEX, 'hex'))],
  ['hex in capitals that the signer decodes', 'secret_encoding', secret(HEX.toUpperCase(), Buffer.from(HEX, 'hex'))],
  ['hex that the receiver decodes', 'secret_encoding', secret(Buffer.from(HEX, 'hex'), HEX)],
  ['base64 that the signer decodes', 'secret_encoding', secret('c2VjcmV0LWtleQ==', 'secret-key')],
  ['base64 that the receiver decodes', 'secret_encoding', secret('secret-key', 'c2VjcmV0LWtleQ==')],
  ['a prefix and base64 that the signer decodes', 'secret_encoding', secret('whsec_c2VjcmV0LWtleQ==', 'secret-key')],
  ['no prefix', 'secret_truncated', secret(SECRET.slice(6))],
  ['no last character', 'secret_truncated', secret(SECRET.slice(0, -1))],
  ['no first character', 'secret_truncated', secret(SECRET.slice(1))],
  ['more than the signer, who cut it at $', 'secret_truncated', secret('pass-word-$x-long', 'pass-word-')],
  ['l for 1', 'secret_typo', secret('a1b-typed-by-hand', 'alb-typed-by-hand')],
  ['two characters swapped', 'secret_typo', secret('ab-tpyed-by-hand', 'ab-typed-by-hand')],
  ['one character missing', 'secret_typo', secret('ab-tped-by-hand', 'ab-typed-by-hand')],
  ['the place of the body', 'secret_swapped', { signature: mac(SECRET, BODY) }],
  ['the value of the test kit at the signer', 'secret_fixture', secret(SECRET, 'paylink-testing-secret-not-for-production')],
];

// oxfmt-ignore
const SIGNATURES: readonly Story[] = [
  ['blanks around it', 'signature_blanks', signature(` ${RIGHT}\n`)],
  ['a zero-width space behind', 'signature_blanks', signature(`${RIGHT}\u200b`)],
  ['a blank before, and colons', 'signature_blanks', signature(` ${RIGHT.match(/../g)!.join(':')}`)],
  ['colons', 'signature_blanks', signature(RIGHT.match(/../g)!.join(':'))],
  ['a line break in the middle', 'signature_blanks', signature(`${RIGHT.slice(0, 32)}\n${RIGHT.slice(32)}`)],
  ['double quotes', 'signature_quoted', signature(`"${RIGHT}"`)],
  ['angle brackets', 'signature_quoted', signature(`<${RIGHT}>`)],
  ['the prefix of GitHub', 'signature_prefixed', signature(`sha256=${RIGHT}`)],
  ['the prefix of Stripe', 'signature_prefixed', signature(`t=1700000000,v1=${RIGHT}`)],
  ['0x', 'signature_prefixed', signature(`0x${RIGHT}`)],
  ['the name of the header', 'signature_prefixed', signature(`X-Service-Signature: ${RIGHT}`)],
  ['a scheme', 'signature_prefixed', signature(`HMAC-SHA256 ${RIGHT}`)],
  ['base64', 'signature_base64', signature(Buffer.from(RIGHT, 'hex').toString('base64'))],
  ['base64 of its digits', 'signature_base64', signature(Buffer.from(RIGHT).toString('base64'))],
  ['hex of its digits', 'signature_base64', signature(Buffer.from(RIGHT).toString('hex'))],
  ['capitals', 'signature_uppercase', signature(RIGHT.toUpperCase())],
  ['no last digits', 'signature_truncated', signature(RIGHT.slice(0, 60))],
  ['no first seven digits, as behind slice(7)', 'signature_truncated', signature(RIGHT.slice(7))],
  ['an ellipsis at the end', 'signature_truncated', signature(`${RIGHT.slice(0, 12)}...`)],
  ['digits behind', 'signature_extended', signature(`${RIGHT}00`)],
  ['a semicolon behind', 'signature_extended', signature(`${RIGHT};`)],
  ['a second copy', 'signature_repeated', signature(`${RIGHT}, ${RIGHT}`)],
  ['a list with another', 'signature_repeated', signature(['0'.repeat(64), RIGHT])],
];

const small = '{"reference":"order-42","amount":15000}';
// oxfmt-ignore
const BODIES: readonly Story[] = [
  ['became compact', 'body_reserialized', body(BODY, PRETTY)],
  ['was pretty-printed', 'body_reserialized', body(PRETTY)],
  ['was spaced by Python', 'body_reserialized', body('{"reference": "order-42", "amount": 15000}', small)],
  ['lost the spaces of Python', 'body_reserialized', body(small, '{"reference": "order-42", "amount": 15000}')],
  ['lost the spaces of Jackson', 'body_reserialized', body(small, '{\n  "reference" : "order-42",\n  "amount" : 15000\n}')],
  ['had three keys in another order', 'body_reserialized', body('{"b":1,"c":2,"a":3}', '{"c":2,"a":3,"b":1}')],
  ['went through jsonb', 'body_reserialized', body('{"amount": 15000, "reference": "order-42"}', small)],
  ['was sorted by Go, also inside', 'body_reserialized', body('{"x":{"b":1,"aa":2}}', '{"x":{"aa":2,"b":1}}')],
  ['was sorted by jsonb, also inside', 'body_reserialized', body('{"x": {"aa":1,"b":2}}', '{"x": {"b": 2, "aa": 1}}')],
  ['had 15000.00', 'body_reserialized', body('{"a":15000}', '{"a":15000.00}')],
  ['had a number as text', 'body_reserialized', body('{"a":15000}', '{"a":"15000"}')],
  ['had escapes of Unicode', 'body_reserialized', body(BODY, ascii(BODY))],
  ['got escapes of Unicode', 'body_reserialized', body(ascii(BODY))],
  ['had escapes of slashes, as PHP', 'body_reserialized', body(BODY, ascii(BODY).replaceAll('/', '\\/'))],
  ['had escapes of &, as Go', 'body_reserialized', body(BODY, BODY.replace('&', '\\u0026'))],
  ['had capitals in escapes', 'body_reserialized', body('{"a":"é"}', '{"a":"\\u00E9"}')],
  ['had 15000.0', 'body_reserialized', body('{"a":15000}', '{"a":15000.0}')],
  ['kept its large number, and lost its spaces', 'body_reserialized', body('{"a":12345678901234567890}', '{"a": 12345678901234567890}')],
  ['had lists and empty values spaced', 'body_reserialized', body('{"a":[1,"b"],"c":[],"d":{}}', JSON.stringify({ a: [1, 'b'], c: [], d: {} }, null, 2))],
  ['is a JSON text within a JSON text', 'body_reserialized', body(JSON.stringify(BODY))],
  ['is a Buffer as JSON', 'body_buffer', body(JSON.stringify(bytes))],
  ['is a Uint8Array as text', 'body_buffer', body(String(new Uint8Array(bytes)))],
  ['is in an event of API Gateway', 'body_enveloped', body(JSON.stringify({ httpMethod: 'POST', body: BODY }))],
  ['is in such an event in base64', 'body_enveloped', body(JSON.stringify({ body: bytes.toString('base64'), isBase64Encoded: true }))],
  ['is in a record of SQS', 'body_enveloped', body(JSON.stringify({ Records: [{ messageId: '1', body: BODY }] }))],
  ['lost its line feed', 'body_newline', body(BODY, `${BODY}\n`)],
  ['got a line feed', 'body_newline', body(`${BODY}\n`)],
  ['got CRs', 'body_line_breaks', body(PRETTY.replaceAll('\n', '\r\n'), PRETTY)],
  ['lost its CRs', 'body_line_breaks', body(PRETTY, PRETTY.replaceAll('\n', '\r\n'))],
  ['got a byte order mark', 'body_bom', body(`\ufeff${BODY}`)],
  ['lost its byte order mark', 'body_bom', body(BODY, `\ufeff${BODY}`)],
  ['is in base64', 'body_base64', body(bytes.toString('base64'))],
  ['is in hex', 'body_base64', body(bytes.toString('hex'))],
  ['was decoded as Latin-1', 'body_decoded', body(bytes.toString('latin1'))],
  ['was signed in Latin-1', 'body_decoded', body('{"a":"é"}', Buffer.from('{"a":"é"}', 'latin1'))],
  ['is in Latin-1', 'body_decoded', body(Buffer.from('{"a":"é"}', 'latin1'), '{"a":"é"}')],
  ['is in UTF-16', 'body_decoded', body(Buffer.from(BODY, 'utf16le'))],
  ['is in another Unicode form', 'body_decoded', body('{"a":"é"}'.normalize('NFD'), '{"a":"é"}')],
  ['has URL escapes', 'body_escaped', body(encodeURIComponent(BODY))],
  ['is a field of a form', 'body_escaped', body(`payload=${encodeURIComponent(BODY)}`)],
  ['is the key of a form', 'body_escaped', body(JSON.stringify({ [small]: '' }), small)],
  ['has HTML escapes', 'body_escaped', body(small.replaceAll('"', '&quot;'), small)],
  ['has JSON escapes', 'body_escaped', body(small.replaceAll('"', '\\"'), small)],
  ['is in single quotes', 'body_extended', body(`'${BODY}'`)],
  ['has padding of NUL', 'body_extended', body(Buffer.concat([bytes, Buffer.alloc(40)]))],
  ['has the sizes of its chunks', 'body_extended', body(`27\r\n${small}\r\n0\r\n\r\n`, small)],
  ['was empty when it was signed', 'body_empty', body(BODY, '')],
];

/** No signature proves these causes, because the signed bytes or the key are lost. */
// oxfmt-ignore
const GUESSES: readonly Story[] = [
  ['a secret with only dots', 'secret_masked', secret('whsec_•••1234')],
  ['a secret with stars', 'secret_masked', secret('whsec_********4f2a')],
  ['a secret with the API key', 'secret_api_key', secret('sk_live_abc.0123456789')],
  ['a secret with the text undefined', 'secret_placeholder', secret('undefined')],
  ['a secret with nothing', 'secret_missing', secret(undefined)],
  ['a signature with bytes', 'signature_malformed', signature(Buffer.from(RIGHT, 'hex'))],
  ['a signature with no value', 'signature_missing', signature(undefined)],
  ['a signature with the text undefined', 'signature_missing', signature('undefined')],
  ['a signature with 2,000 digits behind', 'signature_malformed', signature(RIGHT + '0'.repeat(2_000))],
  ['a signature with another text', 'signature_malformed', signature('payment.succeeded')],
  ['a signature with a SHA-1', 'signature_algorithm', signature(mac(BODY, SECRET, 'sha1'))],
  ['a signature with a SHA-512', 'signature_algorithm', signature(mac(BODY, SECRET, 'sha512'))],
  ['a body that has replaced bytes', 'body_decoded', body('{"reference":"\ufffd"}')],
  ['a body that was made a form', 'body_escaped', body('reference=order-42&amount=15000')],
  ['a body that was cut off', 'body_truncated', body(BODY.slice(0, -9))],
  ['a body that is XML', 'body_foreign', body('<payment><reference>order-42</reference></payment>')],
  ['a body that is an object', 'body_parsed', body(PAYLOAD)],
  ['a body that is [object Object]', 'body_parsed', body('[object Object]')],
  ['a body that is a dictionary of Python', 'body_parsed', body("{'reference': 'order-42', 'amount': 15000}")],
  ['a body that is a map of Java', 'body_parsed', body('{reference=order-42, amount=15000}')],
  ['a body that is an object of JavaScript', 'body_parsed', body("{ reference: 'order-42', amount: 15000 }")],
  ['a body that is empty', 'body_empty', body('')],
  ['a body that is {}', 'body_empty', body('{}')],
  ['a body that is compressed', 'body_compressed', body(gzipSync(BODY))],
  ['a blank signature', 'signature_missing', signature(' ')],
  ['a number as signature', 'signature_malformed', signature(42)],
  ['7 digits, which could be right by chance', 'signature_malformed', signature(RIGHT.slice(0, 7))],
];

const whole = (given: Given) =>
  ({ rawBody: bytes, signature: RIGHT, secret: SECRET, ...given }) as DiagnoseOptions;
const expectNothingQuoted = (diagnosis: object): void => {
  for (const text of [SECRET, HEX, RIGHT, RIGHT.toUpperCase(), 'order-42', 'Zoë'])
    expect(JSON.stringify(diagnosis)).not.toContain(text);
};

it.each([
  ...SECRETS.map(([story, ...rest]): Story => [`a secret with ${story}`, ...rest]),
  ...SIGNATURES.map(([story, ...rest]): Story => [`a signature with ${story}`, ...rest]),
  ...BODIES.map(([story, ...rest]): Story => [`a body that ${story}`, ...rest]),
])('proves the cause of %s, and quotes nothing of it', async (_story, code, given) => {
  const diagnosis = await diagnose(whole(given));
  expect(diagnosis).toMatchObject({ cause: code, causes: [{ code, proven: true }] });
  expect(diagnosis.causes).toHaveLength(1);
  expectNothingQuoted(diagnosis);
});

it.each(GUESSES)(
  'guesses the cause of %s, and quotes nothing of it',
  async (_story, code, given) => {
    // No attempt would prove the cause.
    const diagnosis = await search(whole(given), { body: 100_000, work: 0 });
    const causes = [{ code, message: diagnosis.message, proven: false }];
    expect(diagnosis).toEqual({ matches: false, cause: code, message: diagnosis.message, causes });
    expectNothingQuoted(diagnosis);
  },
);

const nested = (depth: number, inner = ''): string =>
  `${'['.repeat(depth)}${inner}1${']'.repeat(depth)}`;
it.each([
  ['a secret of another endpoint', 'unknown', secret('whsec_of-the-live-endpoint')],
  ['broken JSON as secret', 'unknown', secret('{"secret":')],
  ['an envelope of another body', 'unknown', body('{"body":"{"}')],
  ['a body nested 40,000 deep', 'body_too_complex', body(nested(40_000))],
  ['a body that grows a thousandfold', 'body_too_complex', body(nested(900, '1,'.repeat(2_000)))],
  ['a body too long to parse', 'body_too_complex', body(`{"a":"${'x'.repeat(100_000)}"}`)],
] satisfies Story[])('claims no wrong cause for %s', async (_story, code, given) => {
  expect(await diagnose(whole(given))).toMatchObject({ causes: [{ code, proven: false }] });
});
