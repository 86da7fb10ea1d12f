import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { TEST_SECRET } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import { diagnose, type Diagnosis } from '../src/diagnose.js';
import type { DiagnosisCode } from '../src/diagnosis/codes.js';
import type { DiagnoseOptions } from '../src/diagnosis/search.js';

const SECRET = 'a-webhook-secret-of-some-length';
const HEX = 'b5f3a9c07e21d46890ab13cd57ef2468';
const PAYLOAD = {
  reference: 'order-42',
  amount: 15000,
  customer: { name: 'Zoë', url: 'https://a.example/?b=1&c=2' },
};
const BODY = JSON.stringify(PAYLOAD);
const bytes = Buffer.from(BODY);

const mac = (body: string | Uint8Array, key: string | Uint8Array = SECRET, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(body).digest('hex');
const RIGHT = mac(BODY);

/** Diagnoses a right delivery, except for `given`. The result quotes nothing of the delivery. */
async function diagnosing(given: Partial<DiagnoseOptions>): Promise<Diagnosis> {
  const diagnosis = await diagnose({ rawBody: bytes, signature: RIGHT, secret: SECRET, ...given });
  const text = JSON.stringify(diagnosis);
  const hidden = [
    SECRET,
    RIGHT,
    RIGHT.toUpperCase(),
    HEX,
    'order-42',
    mac(BODY, 'secret-key'),
    'Zoë',
  ];
  for (const value of hidden) expect(text).not.toContain(value);
  return diagnosis;
}

const nested = (depth: number, inner = ''): string =>
  `${'['.repeat(depth)}${inner}1${']'.repeat(depth)}`;
const compact = '{"reference":"order-42","amount":15000}';
const asPython = '{"reference": "order-42", "amount": 15000}';
const pretty = (indent: number | string): string => JSON.stringify(PAYLOAD, null, indent);
const escaped = BODY.replace('ë', '\\u00eb');

type Case = readonly [what: string, code: DiagnosisCode, given: Partial<DiagnoseOptions>];

// oxfmt-ignore
const bodies: readonly Case[] = [
  ['was compact and is pretty-printed', 'body_reserialized', { rawBody: pretty(2) }],
  ['was compact and is spaced', 'body_reserialized', { rawBody: asPython, signature: mac(compact) }],
  ['was spaced and is compact', 'body_reserialized', { rawBody: compact, signature: mac(asPython) }],
  ['was indented by two', 'body_reserialized', { signature: mac(pretty(2)) }],
  ['was indented by four', 'body_reserialized', { signature: mac(pretty(4)) }],
  ['was indented by tabs', 'body_reserialized', { signature: mac(pretty('\t')) }],
  ['had its keys sorted', 'body_reserialized',
    { rawBody: compact, signature: mac('{"amount":15000,"reference":"order-42"}') }],
  ['had other characters than ASCII escaped', 'body_reserialized', { signature: mac(escaped) }],
  ['had its slashes escaped, as PHP does', 'body_reserialized',
    { signature: mac(escaped.replaceAll('/', '\\/')) }],
  ['had its ampersands escaped, as Go does', 'body_reserialized',
    { signature: mac(`${BODY.replace('&', '\\u0026')}\n`) }],
  ['had 10.0 instead of 10', 'body_reserialized',
    { rawBody: '{"a":10}', signature: mac('{"a":10.0}') }],
  ['is a JSON text within a JSON text', 'body_reserialized', { rawBody: JSON.stringify(BODY) }],
  ['is a Buffer as JSON', 'body_buffer', { rawBody: JSON.stringify(bytes) }],
  ['is a Uint8Array as JSON', 'body_buffer', { rawBody: JSON.stringify(new Uint8Array(bytes)) }],
  ['is a Uint8Array as text', 'body_buffer', { rawBody: String(new Uint8Array(bytes)) }],
  ['is an event of API Gateway', 'body_enveloped', { rawBody: JSON.stringify({ httpMethod: 'POST', body: BODY, isBase64Encoded: false }) }],
  ['is an event of API Gateway in base64', 'body_enveloped',
    { rawBody: JSON.stringify({ body: bytes.toString('base64'), isBase64Encoded: true }) }],
  ['lost its line feed', 'body_newline', { signature: mac(`${BODY}\n`) }],
  ['lost its CR LF', 'body_newline', { signature: mac(`${BODY}\r\n`) }],
  ['got a line feed', 'body_newline', { rawBody: `${BODY}\n` }],
  ['got blanks around it', 'body_newline', { rawBody: `  ${BODY} ` }],
  ['got CRs', 'body_line_breaks',
    { rawBody: pretty(2).replaceAll('\n', '\r\n'), signature: mac(pretty(2)) }],
  ['lost its CRs', 'body_line_breaks',
    { rawBody: pretty(3), signature: mac(pretty(3).replaceAll('\n', '\r\n')) }],
  ['got a byte order mark', 'body_bom', { rawBody: `\ufeff${BODY}` }],
  ['lost its byte order mark', 'body_bom', { signature: mac(`\ufeff${BODY}`) }],
  ['is in base64', 'body_base64', { rawBody: bytes.toString('base64') }],
  ['is in base64url', 'body_base64', { rawBody: bytes.toString('base64url') }],
  ['was decoded as Latin-1', 'body_decoded', { rawBody: bytes.toString('latin1') }],
  ['was empty when it was signed', 'body_empty', { signature: mac('') }],
];

// oxfmt-ignore
const signatures: readonly Case[] = [
  ['has whitespace around it', 'signature_blanks', { signature: ` ${RIGHT}\n` }],
  ['is in quotes', 'signature_quoted', { signature: `"${RIGHT}"` }],
  ['has the prefix of GitHub', 'signature_prefixed', { signature: `sha256=${RIGHT}` }],
  ['has the prefix of Stripe', 'signature_prefixed', { signature: `t=1700000000,v1=${RIGHT}` }],
  ['has the prefix of Svix', 'signature_prefixed', { signature: `v1,${RIGHT}` }],
  ['starts with 0x', 'signature_prefixed', { signature: `0x${RIGHT}` }],
  ['is in base64', 'signature_base64', { signature: Buffer.from(RIGHT, 'hex').toString('base64') }],
  ['is in base64url', 'signature_base64', { signature: Buffer.from(RIGHT, 'hex').toString('base64url') }],
  ['is in upper case', 'signature_uppercase', { signature: RIGHT.toUpperCase() }],
  ['is cut off', 'signature_truncated', { signature: RIGHT.slice(0, 60) }],
  ['has characters behind it', 'signature_extended', { signature: `${RIGHT}00` }],
  ['came twice', 'signature_repeated', { signature: `${RIGHT}, ${RIGHT}` }],
  ['came twice, as Node gives headers', 'signature_repeated', { signature: ['0'.repeat(64), RIGHT] }],
];

// oxfmt-ignore
const secrets: readonly Case[] = [
  ['ends with a line feed', 'secret_blanks', { secret: `${SECRET}\n` }],
  ['starts with a blank', 'secret_blanks', { secret: ` ${SECRET}` }],
  ['ends with an escape', 'secret_blanks', { secret: `${SECRET}\\n` }],
  ['lacks the line feed of the signer', 'secret_blanks', { signature: mac(BODY, `${SECRET}\n`) }],
  ['is in quotes', 'secret_quoted', { secret: `'${SECRET}'` }],
  ['starts with its own name', 'secret_assignment', { secret: `WEBHOOK_SECRET="${SECRET}"` }],
  ['starts with its own name, as in YAML', 'secret_assignment', { secret: `secret: ${SECRET}` }],
  ['was decoded from hex', 'secret_encoding',
    { secret: Buffer.from(HEX, 'hex'), signature: mac(BODY, HEX) }],
  ['is hex that the signer decoded', 'secret_encoding',
    { secret: HEX, signature: mac(BODY, Buffer.from(HEX, 'hex')) }],
  ['is base64 that the signer decoded', 'secret_encoding',
    { secret: 'c2VjcmV0LWtleQ==', signature: mac(BODY, 'secret-key') }],
  ['has a prefix and base64 that the signer decoded', 'secret_encoding',
    { secret: 'whsec_c2VjcmV0LWtleQ==', signature: mac(BODY, 'secret-key') }],
  ['is in curly quotes', 'secret_quoted', { secret: `“${SECRET}”` }],
  ['is in French quotes', 'secret_quoted', { secret: `«\u00a0${SECRET}\u00a0»` }],
  ['is not the secret of the fixture', 'secret_fixture', { signature: mac(BODY, TEST_SECRET) }],
];

describe('diagnose', () => {
  it('reports that a valid signature matches', async () => {
    const message = 'The signature matches these bytes.';
    expect(await diagnosing({})).toStrictEqual({ matches: true, message, causes: [] });
    const secret = ['another-secret', SECRET];
    expect(await diagnosing({ secret })).toStrictEqual({ matches: true, message, causes: [] });
  });

  // Side by side, because WebCrypto signs on other threads.
  it.concurrent.each([
    ...bodies.map(([what, ...rest]): Case => [`a body that ${what}`, ...rest]),
    ...signatures.map(([what, ...rest]): Case => [`a signature that ${what}`, ...rest]),
    ...secrets.map(([what, ...rest]): Case => [`a secret that ${what}`, ...rest]),
  ])('proves the cause: %s', async (_what, code, given) => {
    expect(await diagnosing(given)).toMatchObject({
      cause: code,
      causes: [{ code, proven: true }],
    });
  });

  it('finds several faults to fix together', async () => {
    const { causes } = await diagnosing({
      rawBody: `${BODY}\n`,
      signature: `sha256=${RIGHT.toUpperCase()}`,
      secret: ['another-secret', `${SECRET} `],
    });
    const codes = ['signature_prefixed', 'signature_uppercase', 'secret_blanks', 'body_newline'];
    expect(causes.map(({ code }) => code)).toEqual(codes);
  });

  // oxfmt-ignore
  it.concurrent.each<Case>([
    ['no signature', 'signature_missing', { signature: undefined }],
    ['a blank signature', 'signature_missing', { signature: ' ' }],
    ['a text as signature', 'signature_malformed', { signature: 'not a signature' }],
    ['a number as signature', 'signature_malformed', { signature: 42 }],
    ['7 digits, which could be right by chance', 'signature_malformed', { signature: RIGHT.slice(0, 7) }],
    ['a SHA-1', 'signature_algorithm', { signature: mac(BODY, SECRET, 'sha1') }],
    ['a SHA-512', 'signature_algorithm', { signature: mac(BODY, SECRET, 'sha512') }],
    ['no secret', 'secret_missing', { secret: undefined }],
    ['the API key', 'secret_api_key', { secret: 'sk_live_abc.0123456789' }],
    ['a placeholder', 'secret_placeholder', { secret: 'undefined' }],
    ['a masked secret', 'secret_masked', { secret: 'whsec_•••1234' }],
    ['broken JSON as secret', 'unknown', { secret: '{"secret":' }],
    ['an envelope of another body', 'unknown', { rawBody: '{"body":"{"}' }],
    ['a masked copy of asterisks', 'secret_masked', { secret: 'whsec_********4f2a' }],
    ['a parsed body', 'body_parsed', { rawBody: PAYLOAD as unknown as string }],
    ['an empty body', 'body_empty', { rawBody: '' }],
    ['a compressed body', 'body_compressed', { rawBody: gzipSync(BODY) }],
    ['a body with replaced bytes', 'body_decoded', { rawBody: '{"reference":"\ufffd"}' }],
    ['another secret', 'unknown', { secret: 'a-secret-of-another-endpoint' }],
    ['a body nested too deeply', 'body_too_complex', { rawBody: nested(2_000) }],
    ['a body that grows a thousandfold', 'body_too_complex',
      { rawBody: nested(900, '1,'.repeat(2_000)) }],
    ['a body too long to parse', 'body_too_complex', { rawBody: `{"a":"${'x'.repeat(300_000)}"}` }],
  ])('names %s without a proof', async (_what, code, given) => {
    const causes = [{ code, proven: false }];
    expect(await diagnosing(given)).toMatchObject({ cause: code, causes });
  });

  it.each([
    ['nested 200,000 deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['of any bytes', Uint8Array.from({ length: 5_000 }, (_, index) => index % 256)],
    [
      'with keys of prototypes',
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    ],
    ['with unpaired surrogates', '{"a":"\\ud800"}'],
  ])('ends for a body %s, and changes no prototype', async (_what, rawBody) => {
    expect((await diagnosing({ rawBody })).matches).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('lets other work run, and keeps the process alive', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    let turns = 0;
    const interval = setInterval(() => turns++, 1);
    await diagnosing({ rawBody: nested(50, '1,'.repeat(25_000)) });
    clearInterval(interval);
    expect(turns).toBeGreaterThan(2);
    const ends = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(ends.every((timer) => timer.hasRef())).toBe(true);
    timers.mockRestore();
  });

  it('verifies a body of any length', async () => {
    const rawBody = Buffer.alloc(20_000_000);
    expect((await diagnosing({ rawBody, signature: mac(rawBody) })).matches).toBe(true);
  });
});
