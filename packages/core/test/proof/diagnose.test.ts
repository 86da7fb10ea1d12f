import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { HmacKey } from '#hmac';
import { diagnose, type Diagnosis } from '../../src/diagnose.js';
import type { DiagnosisCode } from '../../src/diagnosis/codes.js';
import { writings } from '../../src/diagnosis/json-writings.js';
import { search, type DiagnoseOptions } from '../../src/diagnosis/search.js';

const SECRET = 'a-webhook-secret-of-some-length';
const PAYLOAD = {
  reference: 'order-42',
  amount: 15000,
  customer: { name: 'Zoë', url: 'https://a.example/?b=1&c=2' },
};
const BODY = JSON.stringify(PAYLOAD);
const bytes = Buffer.from(BODY);

const mac = (body: string | Uint8Array): string =>
  createHmac('sha256', SECRET).update(body).digest('hex');
const RIGHT = mac(BODY);

/** Diagnoses a right delivery, except for `given`. The result quotes nothing of the delivery. */
async function diagnosing(given: Partial<DiagnoseOptions>): Promise<Diagnosis> {
  const diagnosis = await diagnose({ rawBody: bytes, signature: RIGHT, secret: SECRET, ...given });
  const text = JSON.stringify(diagnosis);
  const hidden = [SECRET, RIGHT, RIGHT.toUpperCase(), 'order-42', 'Zoë'];
  for (const value of hidden) expect(text).not.toContain(value);
  return diagnosis;
}

/** Few attempts, which cost more with WebCrypto. */
const LIMITS = { body: 100_000, work: 300_000 };

type Case = readonly [what: string, code: DiagnosisCode, given: Partial<DiagnoseOptions>];

describe('diagnose', () => {
  it('reports that a valid signature matches', async () => {
    const message = 'The signature matches these bytes.';
    expect(await diagnosing({})).toStrictEqual({ matches: true, message, causes: [] });
    const secret = ['another-secret', SECRET];
    expect(await diagnosing({ secret })).toStrictEqual({ matches: true, message, causes: [] });
  });

  // diagnosis/stories.test.ts tries the causes.
  it.each<Case>([
    ['a body that was compact', 'body_reserialized', { rawBody: JSON.stringify(PAYLOAD, null, 2) }],
    ['a signature in upper case', 'signature_uppercase', { signature: RIGHT.toUpperCase() }],
    ['a secret that ends with a line feed', 'secret_blanks', { secret: `${SECRET}\n` }],
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

  it.each([
    ['of any bytes', Uint8Array.from({ length: 5_000 }, (_, index) => index % 256)],
    [
      'with keys of prototypes',
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    ],
    ['with unpaired surrogates', '{"a":"\\ud800"}'],
  ])('ends for a body %s, and changes no prototype', async (_what, rawBody) => {
    const options = { rawBody, signature: RIGHT, secret: SECRET };
    expect((await search(options, LIMITS)).matches).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('lets other work run, keeps the process alive, and ends with the work that its limit allows', async () => {
    const digests = vi.spyOn(HmacKey.prototype, 'digest');
    const timers = vi.spyOn(globalThis, 'setTimeout');
    let turns = 0;
    const interval = setInterval(() => turns++, 1);
    await search({ rawBody: bytes, signature: '0'.repeat(64), secret: SECRET }, LIMITS);
    clearInterval(interval);
    expect(turns).toBeGreaterThan(2);
    expect(digests.mock.calls.length).toBeLessThan(LIMITS.work / 512);
    digests.mockRestore();
    const ends = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(ends.every((timer) => timer.hasRef())).toBe(true);
    timers.mockRestore();
  });

  it('writes an object of more than five keys in no other orders, of which there are too many', () => {
    const five = '{"a":1,"b":1,"c":1,"d":1,"e":1}';
    const six = five.replace('}', ',"f":1}');
    expect([...writings(six)].length).toBeLessThan([...writings(five)].length);
  });

  it('verifies a body of any length', async () => {
    const rawBody = Buffer.alloc(200_000);
    expect((await diagnosing({ rawBody, signature: mac(rawBody) })).matches).toBe(true);
  });
});
