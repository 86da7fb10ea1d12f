/** How secrets, signatures and bodies change on their way: each story with its cause. */
import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { diagnose } from '../../src/diagnose.js';
import { MESSAGES, type DiagnosisCode } from '../../src/diagnosis/codes.js';
import type { DiagnoseOptions } from '../../src/diagnosis/search.js';

const SECRET = 'whsec_9fK2-xLq7Tz4_Bw8RmVd3';
const HEX = 'b5f3a9c07e21d46890ab13cd57ef2468';
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
  ['a line feed that only the signer has', 'secret_blanks', secret(SECRET, `${SECRET}\n`)],
  ['single quotes', 'secret_quoted', secret(`'${SECRET}'`)],
  ['double quotes', 'secret_quoted', secret(`"${SECRET}"`)],
  ['escaped quotes', 'secret_quoted', secret(`\\"${SECRET}\\"`)],
  ['curly quotes', 'secret_quoted', secret(`“${SECRET}”`)],
  ['quotes that only the signer has', 'secret_quoted', secret(SECRET, `"${SECRET}"`)],
  ['hex that the signer decodes', 'secret_encoding', secret(HEX, Buffer.from(HEX, 'hex'))],
  ['hex in capitals that the signer decodes', 'secret_encoding', secret(HEX.toUpperCase(), Buffer.from(HEX, 'hex'))],
  ['hex that the receiver decodes', 'secret_encoding', secret(Buffer.from(HEX, 'hex'), HEX)],
  ['base64 that the signer decodes', 'secret_encoding', secret('c2VjcmV0LWtleQ==', 'secret-key')],
  ['base64 that the receiver decodes', 'secret_encoding', secret('secret-key', 'c2VjcmV0LWtleQ==')],
  ['a prefix and base64 that the signer decodes', 'secret_encoding', secret('whsec_c2VjcmV0LWtleQ==', 'secret-key')],
  ['no prefix', 'secret_altered', secret(SECRET.slice(6))],
  ['hex in capitals', 'secret_altered', secret(HEX.toUpperCase(), HEX)],
  ['a shell escape', 'secret_altered', secret('pa\\$s-long-enough', 'pa$s-long-enough')],
  ['the place of the body', 'secret_swapped', { signature: mac(SECRET, BODY) }],
  ['the value of the test kit at the signer', 'secret_fixture', secret(SECRET, 'paylink-testing-secret-not-for-production')],
];

const small = '{"reference":"order-42","amount":15000}';
// oxfmt-ignore
const BODIES: readonly Story[] = [
  ['became compact', 'body_reserialized', body(BODY, PRETTY)],
  ['was pretty-printed', 'body_reserialized', body(PRETTY)],
  ['was spaced by Python', 'body_reserialized', body('{"reference": "order-42", "amount": 15000}', small)],
  ['lost the spaces of Python', 'body_reserialized', body(small, '{"reference": "order-42", "amount": 15000}')],
  ['lost the spaces of Jackson', 'body_reserialized', body(small, '{\n  "reference" : "order-42",\n  "amount" : 15000\n}')],
  ['had 15000.00', 'body_reserialized', body('{"a":15000}', '{"a":15000.00}')],
  ['had escapes of Unicode', 'body_reserialized', body(BODY, ascii(BODY))],
  ['got escapes of Unicode', 'body_reserialized', body(ascii(BODY))],
  ['had escapes of slashes, as PHP', 'body_reserialized', body(BODY, ascii(BODY).replaceAll('/', '\\/'))],
  ['had escapes of &, as Go', 'body_reserialized', body(BODY, BODY.replace('&', '\\u0026'))],
  ['had capitals in escapes', 'body_reserialized', body('{"a":"é"}', '{"a":"\\u00E9"}')],
  ['had 15000.0', 'body_reserialized', body('{"a":15000}', '{"a":15000.0}')],
  ['kept its large number, and lost its spaces', 'body_reserialized', body('{"a":12345678901234567890}', '{"a": 12345678901234567890}')],
  ['had lists and empty values spaced', 'body_reserialized', body('{"a":[1,"b"],"c":[],"d":{}}', JSON.stringify({ a: [1, 'b'], c: [], d: {} }, null, 2))],
  ['is a JSON text within a JSON text', 'body_reserialized', body(JSON.stringify(BODY))],
  ['is in an event of API Gateway', 'body_enveloped', body(JSON.stringify({ httpMethod: 'POST', body: BODY }))],
  ['is in such an event in base64', 'body_enveloped', body(JSON.stringify({ body: bytes.toString('base64'), isBase64Encoded: true }))],
  ['lost its line feed', 'body_newline', body(BODY, `${BODY}\n`)],
  ['got a line feed', 'body_newline', body(`${BODY}\n`)],
  ['got CRs', 'body_newline', body(PRETTY.replaceAll('\n', '\r\n'), PRETTY)],
  ['lost its CRs', 'body_newline', body(PRETTY, PRETTY.replaceAll('\n', '\r\n'))],
  ['got a byte order mark', 'body_decoded', body(`\ufeff${BODY}`)],
  ['lost its byte order mark', 'body_decoded', body(BODY, `\ufeff${BODY}`)],
  ['is in base64', 'body_base64', body(bytes.toString('base64'))],
  ['is in hex', 'body_base64', body(bytes.toString('hex'))],
  ['was decoded as Latin-1', 'body_decoded', body(bytes.toString('latin1'))],
  ['was signed in Latin-1', 'body_decoded', body('{"a":"é"}', Buffer.from('{"a":"é"}', 'latin1'))],
  ['is in Latin-1', 'body_decoded', body(Buffer.from('{"a":"é"}', 'latin1'), '{"a":"é"}')],
  ['is in UTF-16', 'body_decoded', body(Buffer.from(BODY, 'utf16le'))],
];

/** No signature proves these causes, because the signed bytes or the key are lost. */
// oxfmt-ignore
const GUESSES: readonly Story[] = [
  ['a secret with only dots', 'secret_invalid', secret('whsec_•••1234')],
  ['a secret with stars', 'secret_invalid', secret('whsec_********4f2a')],
  ['a secret with the API key', 'secret_invalid', secret('sk_live_abc.0123456789')],
  ['a secret with the text undefined', 'secret_invalid', secret('undefined')],
  ['a secret with nothing', 'secret_invalid', secret(undefined)],
  ['a signature with bytes', 'signature_malformed', signature(Buffer.from(RIGHT, 'hex'))],
  ['a signature with no value', 'signature_malformed', signature(undefined)],
  ['a signature with the text undefined', 'signature_malformed', signature('undefined')],
  ['a signature with the prefix of GitHub', 'signature_malformed', signature(`sha256=${RIGHT}`)],
  ['a signature in base64', 'signature_malformed', signature(Buffer.from(RIGHT, 'hex').toString('base64'))],
  ['a signature in capitals', 'signature_malformed', signature(RIGHT.toUpperCase())],
  ['two signatures', 'signature_malformed', signature([RIGHT, RIGHT])],
  ['a signature with a SHA-1', 'signature_malformed', signature(mac(BODY, SECRET, 'sha1'))],
  ['a signature that is cut off', 'signature_malformed', signature(RIGHT.slice(0, 60))],
  ['a signature that is too long', 'signature_malformed', signature(RIGHT.repeat(16))],
  ['a signature with another text', 'signature_malformed', signature('payment.succeeded')],
  ['a body that has replaced bytes', 'body_decoded', body('{"reference":"\ufffd"}')],
  ['a body that was cut off', 'body_foreign', body(BODY.slice(0, -9))],
  ['a body that was made a form', 'body_foreign', body('reference=order-42&amount=15000')],
  ['a body that is XML', 'body_foreign', body('<payment><reference>order-42</reference></payment>')],
  ['a body that is an object', 'body_parsed', body(PAYLOAD)],
  ['a body that is [object Object]', 'body_parsed', body('[object Object]')],
  ['a body that is empty', 'body_empty', body('')],
  ['a body that is {}', 'body_empty', body('{}')],
  ['a body that was compressed, then decoded as text', 'body_decoded', body(String(gzipSync(BODY)))],
  ['a body that is compressed', 'body_foreign', body(gzipSync(BODY))],
  ['a blank signature', 'signature_malformed', signature(' ')],
  ['a number as signature', 'signature_malformed', signature(42)],
];

const whole = (given: Given) =>
  ({ rawBody: bytes, signature: RIGHT, secret: SECRET, ...given }) as DiagnoseOptions;
const expectNothingQuoted = (diagnosis: object): void => {
  for (const text of [SECRET, HEX, RIGHT, RIGHT.toUpperCase(), 'order-42', 'Zoë'])
    expect(JSON.stringify(diagnosis)).not.toContain(text);
};

it.each([
  ...SECRETS.map(([story, ...rest]): Story => [`a secret with ${story}`, ...rest]),
  ...BODIES.map(([story, ...rest]): Story => [`a body that ${story}`, ...rest]),
])('proves the cause of %s, and quotes nothing of it', async (_story, code, given) => {
  const diagnosis = await diagnose(whole(given));
  const message = MESSAGES[code];
  expect(diagnosis).toEqual({ matches: false, cause: code, message, proven: true });
  expectNothingQuoted(diagnosis);
});

it.each(GUESSES)(
  'guesses the cause of %s, and quotes nothing of it',
  async (_story, code, given) => {
    const diagnosis = await diagnose(whole(given));
    const message = expect.stringMatching(/^[^\n]+$/) as string;
    expect(diagnosis).toEqual({ matches: false, cause: code, message, proven: false });
    expectNothingQuoted(diagnosis);
  },
);

it.each([
  ['whsec_•••1234', 'secret is masked'],
  ['WEBHOOK_SECRET=abc', 'secret begins with its own name'],
  [['a-right-secret', undefined], 'secret[1] is missing'],
])('says why a receiver would refuse the secret %j', async (given, problem) => {
  const { message } = await diagnose(whole(secret(given)));
  expect(message).toContain(`The secret is invalid: ${problem}`);
});

const nested = (depth: number, inner = ''): string =>
  `${'['.repeat(depth)}${inner}1${']'.repeat(depth)}`;
it.each([
  ['a secret of another endpoint', 'unknown', secret('whsec_of-the-live-endpoint')],
  ['an envelope of another body', 'unknown', body('{"body":"{"}')],
  ['a body nested 40,000 deep', 'body_too_complex', body(nested(40_000))],
  ['a body that grows a thousandfold', 'body_too_complex', body(nested(900, '1,'.repeat(2_000)))],
  ['a body too long to parse', 'body_too_complex', body(`{"a":"${'x'.repeat(100_000)}"}`)],
] satisfies Story[])('claims no wrong cause for %s', async (_story, code, given) => {
  expect(await diagnose(whole(given))).toMatchObject({ cause: code, proven: false });
});
