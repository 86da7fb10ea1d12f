import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { diagnose, type Diagnosis } from '../../src/diagnose.js';
import { MESSAGES, type DiagnosisCode } from '../../src/diagnosis/codes.js';
import type { DiagnoseOptions } from '../../src/diagnosis/search.js';

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

type Case = readonly [what: string, code: DiagnosisCode, given: Partial<DiagnoseOptions>];

describe('diagnose', () => {
  it('reports that a valid signature matches', async () => {
    const message = 'The signature matches these bytes.';
    expect(await diagnosing({})).toStrictEqual({ matches: true, message, proven: true });
    const secret = ['another-secret', SECRET];
    expect(await diagnosing({ secret })).toStrictEqual({ matches: true, message, proven: true });
  });

  // diagnosis/stories.test.ts tries the causes.
  it.each<Case>([
    ['a body that was compact', 'body_reserialized', { rawBody: JSON.stringify(PAYLOAD, null, 2) }],
    ['a secret that ends with a line feed', 'secret_blanks', { secret: `${SECRET}\n` }],
  ])('proves the cause: %s', async (_what, code, given) => {
    expect(await diagnosing(given)).toMatchObject({ cause: code, proven: true });
  });

  it('finds several faults to fix together', async () => {
    const rawBody = `${BODY}\n`;
    const secret = ['another-secret', `${SECRET} `];
    expect(await diagnosing({ rawBody, secret })).toEqual({
      matches: false,
      cause: 'secret_blanks',
      message: `${MESSAGES.secret_blanks} ${MESSAGES.body_newline}`,
      proven: true,
    });
  });

  it.each([
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

  it('verifies a body of any length', async () => {
    const rawBody = Buffer.alloc(200_000);
    expect((await diagnosing({ rawBody, signature: mac(rawBody) })).matches).toBe(true);
  });
});
