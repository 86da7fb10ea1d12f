import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { Budget } from '../../src/diagnosis/budget.js';
import { MESSAGES, type DiagnosisCode } from '../../src/diagnosis/codes.js';
import { diagnoseSpelling, search, type DiagnoseOptions } from '../../src/diagnosis/search.js';
import { sufficingFor, unlimited } from './unlimited.js';

const SECRET = 'a-webhook-secret-of-some-length';
const BODY = '{"reference":"order-42","amount":15000}';
const signed = (body: string | Uint8Array, key: string | Uint8Array = SECRET): string =>
  createHmac('sha256', key).update(body).digest('hex');
const FOREIGN = signed(BODY, 'a-secret-of-another-endpoint');

const searching = (given: Partial<DiagnoseOptions>, budget: Budget = unlimited()) =>
  search({ rawBody: BODY, signature: signed(BODY), secret: SECRET, ...given }, budget);
const codesOf = async (
  given: Partial<DiagnoseOptions>,
  budget?: Budget,
): Promise<DiagnosisCode[]> => (await searching(given, budget)).causes.map(({ code }) => code);

describe('a diagnosis', () => {
  it('has a line and a cause for each fault, and the index of the secret in a list', async () => {
    const secret = [undefined, 'another-secret', `${SECRET} `];
    expect(await searching({ rawBody: `${BODY}\n`, secret })).toStrictEqual({
      matches: false,
      cause: 'secret_blanks',
      message: `${MESSAGES.secret_blanks}\n${MESSAGES.body_newline}`,
      causes: [
        { code: 'secret_blanks', message: MESSAGES.secret_blanks, proven: true },
        { code: 'body_newline', message: MESSAGES.body_newline, proven: true },
      ],
      secretIndex: 2,
    });
  });

  it('without a proof has no index of a secret', async () => {
    expect(await searching({ signature: FOREIGN, secret: [SECRET] })).toStrictEqual({
      matches: false,
      cause: 'unknown',
      message: MESSAGES.unknown,
      causes: [{ code: 'unknown', message: MESSAGES.unknown, proven: false }],
    });
  });

  it('prefers one fault to two, and a secret to a body', async () => {
    expect(await codesOf({ signature: signed(BODY, `${SECRET}\n`) })).toEqual(['secret_blanks']);
    expect(await codesOf({ signature: signed(`${BODY}\n`) })).toEqual(['body_newline']);
    const signature = signed('{"reference": "order-42", "amount": 15000}');
    expect(await codesOf({ signature, secret: `${SECRET} ` })).toEqual([
      'secret_blanks',
      'body_reserialized',
    ]);
  });

  it('proves nothing of the form of a signature', () => {
    const causes = [
      { code: 'signature_prefixed', message: MESSAGES.signature_prefixed, proven: false },
    ];
    expect(diagnoseSpelling(`sha256=${FOREIGN}`)).toMatchObject({ matches: false, causes });
  });
});

describe('the search', () => {
  it.each([
    ['signature', { signature: undefined }],
    ['secret', { secret: [] }],
    ['bytes', { rawBody: {} as unknown as string }],
  ])('tries nothing without %s', async (_what, given) => {
    const take = vi.fn(() => Promise.resolve(true));
    await searching(given, unlimited({ take }));
    expect(take).not.toHaveBeenCalled();
  });

  it('reports an incomplete search above its bounds for bodies, texts and JSON', async () => {
    const signature = FOREIGN;
    const length = BODY.length;
    for (const bound of ['body', 'text', 'parsed'] as const) {
      const under = unlimited({ [bound]: length - 1 });
      expect(await codesOf({ signature }, under)).toEqual(['body_too_complex']);
      expect(await codesOf({ signature }, unlimited({ [bound]: length }))).toEqual(['unknown']);
    }
  });

  it('reports an incomplete search if the budget ends, at every step', async () => {
    let looks = 0;
    const take = (): Promise<boolean> => Promise.resolve(++looks > 0);
    const given = { rawBody: 'text', signature: FOREIGN };
    expect(await codesOf(given, unlimited({ take }))).toEqual(['unknown']);
    for (const fewer of [0, 1, looks >> 2, looks >> 1, looks - 2, looks - 1]) {
      expect(await codesOf(given, sufficingFor(fewer))).toEqual(['body_too_complex']);
    }
    expect(await codesOf(given, sufficingFor(looks))).toEqual(['unknown']);
  });
});

describe('a guess without a proof', () => {
  const guess = (given: Partial<DiagnoseOptions>, budget?: Budget) =>
    codesOf({ signature: FOREIGN, ...given }, budget);

  it.each<readonly [DiagnoseOptions['secret'], DiagnosisCode]>([
    [' sk_live_abc.0123', 'secret_api_key'],
    [['sk_live_a.0', 'sk_live_b.0'], 'secret_api_key'],
    [['sk_live_a.0', 'another-secret'], 'unknown'],
    ['  null\n\n', 'secret_placeholder'],
    [['undefined', 'ChangeMe'], 'secret_placeholder'],
    [['undefined', 'another-secret'], 'unknown'],
    ['undefined-secret', 'unknown'],
    [Uint8Array.of(0xff, 0xfe), 'unknown'],
    [[undefined, ''], 'secret_missing'],
  ])('about the secret %j is %s', async (secret, code) => {
    expect(await guess({ secret })).toEqual([code]);
  });

  it('names everything that is plainly wrong: signature, secret, body', async () => {
    const codes = ['signature_missing', 'secret_missing', 'body_empty'];
    expect(await guess({ signature: undefined, secret: undefined, rawBody: '' })).toEqual(codes);
    const signature = FOREIGN.toUpperCase();
    expect(await guess({ signature })).toEqual(['signature_uppercase', 'unknown']);
    expect(await guess({ signature, secret: 'undefined' })).toEqual(['secret_placeholder']);
  });
});
