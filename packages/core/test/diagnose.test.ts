import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { TEST_SECRET } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import { diagnose, type DiagnoseOptions, type Diagnosis, type DiagnosisCode } from '../src/diagnose.js';

const SECRET = 'a-webhook-secret-of-some-length';
const PAYLOAD = { reference: 'order-42', amount: 15000, customer: { name: 'Zoë', url: 'https://a.example/?b=1&c=2' } };
const BODY = JSON.stringify(PAYLOAD);

const mac = (body: string | Uint8Array, key: string | Uint8Array = SECRET, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(body).digest('hex');
const RIGHT = mac(BODY);

/** What the developer has, which is right but for what is given. No diagnosis holds a secret, a signature or anything of the body. */
async function diagnosing(given: Partial<DiagnoseOptions>): Promise<Diagnosis> {
  const diagnosis = await diagnose({ rawBody: Buffer.from(BODY), signature: RIGHT, secret: SECRET, ...given });
  const text = JSON.stringify(diagnosis);
  for (const hidden of [SECRET, RIGHT, RIGHT.toUpperCase(), hex, 'order-42', mac(BODY, 'secret-key'), 'Zoë']) {
    expect(text).not.toContain(hidden);
  }
  return diagnosis;
}

const nested = (depth: number, inner = ''): string => `${'['.repeat(depth)}${inner}1${']'.repeat(depth)}`;
const withBlanks = '{"reference": "order-42", "amount": 15000}';
const compact = '{"reference":"order-42","amount":15000}';
const sorted = '{"amount":15000,"reference":"order-42"}';
const pretty = (spaces: number | string): string => JSON.stringify(PAYLOAD, null, spaces);
const hex = 'b5f3a9c07e21d46890ab13cd57ef2468';

type Case = readonly [what: string, code: DiagnosisCode, given: Partial<DiagnoseOptions>];

const bodies: readonly Case[] = [
  ['was pretty-printed, and is compact', 'body_reserialized', { signature: mac(pretty(2)) }],
  ['was indented by four, and is compact', 'body_reserialized', { signature: mac(pretty(4)) }],
  ['was indented by tabs, and is compact', 'body_reserialized', { signature: mac(pretty('\t')) }],
  ['was compact, and is pretty-printed', 'body_reserialized', { rawBody: pretty(2) }],
  ['was written by Python, and is compact', 'body_reserialized', { rawBody: compact, signature: mac(withBlanks) }],
  ['was compact, and is written by Python', 'body_reserialized', { rawBody: withBlanks, signature: mac(compact) }],
  ['has its keys sorted', 'body_reserialized', { rawBody: compact, signature: mac(sorted) }],
  [
    'had its characters escaped, as Python does',
    'body_reserialized',
    { signature: mac(BODY.replace('ë', '\\u00eb').replaceAll('":', '": ').replaceAll(',"', ', "')) },
  ],
  [
    'had its slashes escaped, as PHP does',
    'body_reserialized',
    { signature: mac(BODY.replace('ë', '\\u00eb').replaceAll('/', '\\/')) },
  ],
  ['had its ampersands escaped, as Go does', 'body_reserialized', { signature: mac(`${BODY.replace('&', '\\u0026')}\n`) }],
  ['has lost its escapes', 'body_reserialized', { rawBody: BODY, signature: mac(BODY.replace('ë', '\\u00eb')) }],
  [
    'had 1.0 where it has 1',
    'body_reserialized',
    { rawBody: '{"reference":"a","amount":10}', signature: mac('{"reference":"a","amount":10.0}') },
  ],
  ['is a JSON text within a JSON text', 'body_reserialized', { rawBody: JSON.stringify(BODY) }],
  ['is a Buffer that was written as JSON', 'body_buffer', { rawBody: JSON.stringify(Buffer.from(BODY)) }],
  ['is a Uint8Array that was written as JSON', 'body_buffer', { rawBody: JSON.stringify(new Uint8Array(Buffer.from(BODY))) }],
  ['is a Uint8Array that was written as text', 'body_buffer', { rawBody: String(new Uint8Array(Buffer.from(BODY))) }],
  ['has lost its line feed', 'body_newline', { signature: mac(`${BODY}\n`) }],
  ['has lost its CR LF', 'body_newline', { signature: mac(`${BODY}\r\n`) }],
  ['was given a line feed', 'body_newline', { rawBody: `${BODY}\n` }],
  ['was given CR LF', 'body_newline', { rawBody: `${BODY}\r\n` }],
  ['was given whitespace around it', 'body_newline', { rawBody: `  ${BODY} ` }],
  ['was given CRs', 'body_line_breaks', { rawBody: pretty(2).replaceAll('\n', '\r\n'), signature: mac(pretty(2)) }],
  ['has lost its CRs', 'body_line_breaks', { rawBody: pretty(3), signature: mac(pretty(3).replaceAll('\n', '\r\n')) }],
  ['was given a byte order mark', 'body_bom', { rawBody: `\ufeff${BODY}` }],
  ['has lost its byte order mark', 'body_bom', { signature: mac(`\ufeff${BODY}`) }],
  ['is in base64', 'body_base64', { rawBody: Buffer.from(BODY).toString('base64') }],
  ['is in base64url', 'body_base64', { rawBody: Buffer.from(BODY).toString('base64url') }],
  ['was taken for Latin-1', 'body_decoded', { rawBody: Buffer.from(BODY).toString('latin1') }],
  ['was empty when it was signed', 'body_empty', { signature: mac('') }],
];

const signatures: readonly Case[] = [
  ['has whitespace around it', 'signature_blanks', { signature: ` ${RIGHT}\n` }],
  ['is in quotes', 'signature_quoted', { signature: `"${RIGHT}"` }],
  ['has the prefix of GitHub', 'signature_prefixed', { signature: `sha256=${RIGHT}` }],
  ['has the prefix of Stripe', 'signature_prefixed', { signature: `t=1700000000,v1=${RIGHT}` }],
  ['has the prefix of Svix', 'signature_prefixed', { signature: `v1,${RIGHT}` }],
  ['begins with 0x', 'signature_prefixed', { signature: `0x${RIGHT}` }],
  ['is in base64', 'signature_base64', { signature: Buffer.from(RIGHT, 'hex').toString('base64') }],
  ['is in base64url', 'signature_base64', { signature: Buffer.from(RIGHT, 'hex').toString('base64url') }],
  ['is in upper case', 'signature_uppercase', { signature: RIGHT.toUpperCase() }],
  ['is cut off', 'signature_truncated', { signature: RIGHT.slice(0, 60) }],
  ['has something behind it', 'signature_extended', { signature: `${RIGHT}00` }],
  ['came twice', 'signature_repeated', { signature: `${RIGHT}, ${RIGHT}` }],
  ['came twice, as Node gives it', 'signature_repeated', { signature: ['0'.repeat(64), RIGHT] }],
];

const secrets: readonly Case[] = [
  ['has a line feed at its end', 'secret_blanks', { secret: `${SECRET}\n` }],
  ['starts with a blank', 'secret_blanks', { secret: ` ${SECRET}` }],
  ['has an escape at its end', 'secret_blanks', { secret: `${SECRET}\\n` }],
  ['lacks the line feed that the signer’s has', 'secret_blanks', { signature: mac(BODY, `${SECRET}\n`) }],
  ['is in quotes', 'secret_quoted', { secret: `'${SECRET}'` }],
  ['begins with its own name', 'secret_assignment', { secret: `WEBHOOK_SECRET="${SECRET}"` }],
  ['is decoded from hex', 'secret_encoding', { secret: Buffer.from(hex, 'hex'), signature: mac(BODY, hex) }],
  ['is hex, and the signer has decoded it', 'secret_encoding', { secret: hex, signature: mac(BODY, Buffer.from(hex, 'hex')) }],
  [
    'is base64, and the signer has decoded it',
    'secret_encoding',
    { secret: 'c2VjcmV0LWtleQ==', signature: mac(BODY, 'secret-key') },
  ],
  [
    'has a prefix, and the signer has decoded the rest',
    'secret_encoding',
    { secret: 'whsec_c2VjcmV0LWtleQ==', signature: mac(BODY, 'secret-key') },
  ],
  ['is not the one of the fixture that signed', 'secret_fixture', { signature: mac(BODY, TEST_SECRET) }],
];

describe('diagnose', () => {
  it('says that a right signature matches', async () => {
    expect(await diagnosing({})).toEqual({ matches: true, message: 'The signature is that of these bytes.', causes: [] });
    expect(await diagnosing({ secret: ['another-secret', SECRET] })).toMatchObject({ matches: true, secretIndex: 1 });
  });

  it.each(bodies)('finds a body that %s', async (_, code, given) => {
    expect(await diagnosing(given)).toMatchObject({ matches: false, cause: code, causes: [{ code, proven: true }] });
  });

  it.each(signatures)('finds a signature that %s', async (_, code, given) => {
    const { causes } = await diagnosing(given);
    expect(causes).toMatchObject([{ code, proven: true }]);
  });

  it.each(secrets)('finds a secret that %s', async (_, code, given) => {
    expect(await diagnosing(given)).toMatchObject({ matches: false, cause: code, causes: [{ code, proven: true }] });
  });

  it('finds several faults that must be fixed together', async () => {
    const { causes } = await diagnosing({
      rawBody: `${BODY}\n`,
      signature: `sha256=${RIGHT.toUpperCase()}`,
      secret: ['another-secret', `${SECRET} `],
    });
    expect(causes.map(({ code }) => code)).toEqual(['signature_prefixed', 'signature_uppercase', 'secret_blanks', 'body_newline']);
  });

  it.each<Case>([
    ['no signature', 'signature_missing', { signature: undefined }],
    ['a blank signature', 'signature_missing', { signature: ' ' }],
    ['a signature that is not one', 'signature_malformed', { signature: 'not a signature' }],
    ['a signature that is not a string', 'signature_malformed', { signature: 42 }],
    ['a SHA-1', 'signature_algorithm', { signature: mac(BODY, SECRET, 'sha1') }],
    ['a SHA-512', 'signature_algorithm', { signature: mac(BODY, SECRET, 'sha512') }],
    ['no secret', 'secret_missing', { secret: undefined }],
    ['an empty list of secrets', 'secret_missing', { secret: [] }],
    ['an empty secret', 'secret_missing', { secret: '' }],
    ['the API key', 'secret_api_key', { secret: 'sk_live_abc.0123456789' }],
    ['a placeholder', 'secret_placeholder', { secret: 'undefined' }],
    ['a parsed body', 'body_parsed', { rawBody: PAYLOAD as unknown as string }],
    ['a parsed body as text', 'body_parsed', { rawBody: '[object Object]' }],
    ['an empty body', 'body_empty', { rawBody: '' }],
    ['the empty object of a parser', 'body_empty', { rawBody: '{}' }],
    ['a compressed body', 'body_compressed', { rawBody: gzipSync(BODY) }],
    ['a body in which bytes were replaced', 'body_decoded', { rawBody: '{"reference":"\ufffd"}' }],
    ['another secret', 'unknown', { secret: 'a-secret-of-another-endpoint' }],
    ['a body nested too deeply', 'body_too_complex', { rawBody: nested(2_000) }],
    ['a body that grows a thousandfold when it is indented', 'body_too_complex', { rawBody: nested(900, '1,'.repeat(2_000)) }],
    ['a body that is too long to be parsed', 'body_too_complex', { rawBody: `{"a":"${'x'.repeat(300_000)}"}` }],
  ])('names %s, though what was signed is lost', async (_, code, given) => {
    expect(await diagnosing(given)).toMatchObject({ matches: false, cause: code, causes: [{ code, proven: false }] });
  });

  it('accepts a right signature, whatever the secret', async () => {
    expect((await diagnosing({ rawBody: '', signature: mac('') })).matches).toBe(true);
    expect((await diagnosing({ secret: 'undefined', signature: mac(BODY, 'undefined') })).matches).toBe(true);
  });

  it.each([
    ['nested 200,000 deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['of a megabyte', `{"a":"${'x'.repeat(1_000_000)}"}`],
    ['of any bytes', Uint8Array.from({ length: 5_000 }, (_, index) => index % 256)],
    ['with keys of the prototype', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'],
    ['with lone surrogates', '{"a":"\\ud800"}'],
  ])('gives an answer to a body %s, and changes no prototype (J08)', async (_, rawBody) => {
    expect((await diagnosing({ rawBody })).matches).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('takes no longer for 60,000 spaces or digits (J06)', async () => {
    for (const [character, other] of [
      [' ', 'x'],
      ['0', ' '],
      ['a', 'g'],
    ] as const) {
      const started = process.cpuUsage();
      await diagnosing({ signature: other + character.repeat(16_000) + other });
      await diagnosing({ rawBody: other + character.repeat(60_000) + other });
      // Of the processor, which others may keep busy meanwhile; in microseconds.
      const { user, system } = process.cpuUsage(started);
      expect(user + system).toBeLessThan(2_000_000);
    }
  });

  it('lets other work run while it works', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    // So long that the bytes alone, however quickly they are written, are more than a few slices.
    await diagnosing({ rawBody: nested(50, '1,'.repeat(50_000)) });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('keeps the process until it is done', async () => {
    const timer = { unref: vi.fn() };
    const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void) => {
      setImmediate(run);
      return timer;
    }) as unknown as typeof setTimeout);
    await diagnosing({ rawBody: nested(50, '1,'.repeat(5_000)) });
    expect(timers).toHaveBeenCalled();
    expect(timer.unref).not.toHaveBeenCalled();
    timers.mockRestore();
  });

  it('matches a body of any length', async () => {
    const rawBody = Buffer.alloc(20_000_000);
    expect((await diagnosing({ rawBody, signature: mac(rawBody) })).matches).toBe(true);
  });

  it('finds nothing by chance', async () => {
    for (let index = 0; index < 5; index++) {
      const { cause } = await diagnosing({ signature: mac(String(index)) });
      expect(cause).toBe('unknown');
    }
  });
});
