import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { bodyVariants } from '../../src/diagnosis/body-variants.js';
import type { Budget } from '../../src/diagnosis/budget.js';
import { MESSAGES, type DiagnosisCode } from '../../src/diagnosis/codes.js';
import { diagnoseSpelling, search, type DiagnoseOptions } from '../../src/diagnosis/search.js';
import { all, sufficingFor, unlimited } from './unlimited.js';

const SECRET = 'a-webhook-secret-of-some-length';
const BODY = '{"reference":"order-42","amount":15000}';
const signed = (body: string | Uint8Array, key: string | Uint8Array = SECRET): string =>
  createHmac('sha256', key).update(body).digest('hex');
/** Of no secret that is near. */
const FOREIGN = signed(BODY, 'a-secret-of-another-endpoint');

const searching = (given: Partial<DiagnoseOptions>, budget: Budget = unlimited()) =>
  search({ rawBody: BODY, signature: signed(BODY), secret: SECRET, ...given }, budget);
const codesOf = async (given: Partial<DiagnoseOptions>, budget?: Budget): Promise<DiagnosisCode[]> =>
  (await searching(given, budget)).causes.map(({ code }) => code);

describe('a diagnosis', () => {
  it('of what matches has no cause, and the index of the secret only where there is a list', async () => {
    const matches = { matches: true, message: 'The signature is that of these bytes.', causes: [] };
    expect(await searching({})).toStrictEqual(matches);
    expect(await searching({ secret: [SECRET] })).toStrictEqual({ ...matches, secretIndex: 0 });
    expect(await searching({ secret: ['another-secret', SECRET] })).toStrictEqual({ ...matches, secretIndex: 1 });
  });

  it('of what does not match has the first cause, and a line for each', async () => {
    const diagnosis = await searching({ rawBody: `${BODY}\n`, secret: ['another-secret', `${SECRET} `] });
    expect(diagnosis).toStrictEqual({
      matches: false,
      cause: 'secret_blanks',
      message: `${MESSAGES.secret_blanks}\n${MESSAGES.body_newline}`,
      causes: [
        { code: 'secret_blanks', message: MESSAGES.secret_blanks, proven: true },
        { code: 'body_newline', message: MESSAGES.body_newline, proven: true },
      ],
      secretIndex: 1,
    });
  });

  it('that guesses has no index of a secret', async () => {
    expect(await searching({ signature: FOREIGN, secret: [SECRET] })).toStrictEqual({
      matches: false,
      cause: 'unknown',
      message: MESSAGES.unknown,
      causes: [{ code: 'unknown', message: MESSAGES.unknown, proven: false }],
    });
  });

  it('counts the secrets of a list as the verifier does, those that are not set too', async () => {
    const secret = [undefined, '', 'another-secret', SECRET];
    expect(await searching({ secret })).toMatchObject({ matches: true, secretIndex: 3 });
  });
});

describe('the search', () => {
  it('finds a secret and a body that must both be fixed, also where the writing of the body is not the first', async () => {
    const signature = signed('{"reference": "order-42", "amount": 15000}');
    expect(await codesOf({ signature, secret: `${SECRET} ` })).toEqual(['secret_blanks', 'body_reserialized']);
  });

  it('tries an altered secret on the first 24 of the bodies, and on no other', async () => {
    const { given } = await all(bodyVariants(Buffer.from(BODY), unlimited()), ({ value }) => Buffer.from(value));
    const codes = (body: Uint8Array) => codesOf({ signature: signed(body), secret: `${SECRET} ` });
    expect(await codes(given[23]!)).toEqual(['secret_blanks', 'body_reserialized']);
    expect(await codes(given[24]!)).toEqual(['unknown']);
  });

  it('prefers one fault to two, and a secret to a body', async () => {
    const key = `${SECRET}\n`;
    expect(await codesOf({ signature: signed(BODY, key) })).toEqual(['secret_blanks']);
    expect(await codesOf({ signature: signed(`${BODY}\n`) })).toEqual(['body_newline']);
  });

  it.each([
    ['no signature', { signature: undefined }],
    ['no secret', { secret: [] }],
    ['no bytes', { rawBody: {} as unknown as string }],
  ])('tries nothing where there is %s', async (_, given) => {
    const take = vi.fn(() => Promise.resolve(true));
    await searching(given, unlimited({ take }));
    expect(take).not.toHaveBeenCalled();
  });

  it('is not complete over the bound for bodies, nor over that for JSON', async () => {
    const signature = FOREIGN;
    const long = BODY.length;
    expect(await codesOf({ signature }, unlimited({ body: long - 1 }))).toEqual(['body_too_complex']);
    expect(await codesOf({ signature }, unlimited({ body: long }))).toEqual(['unknown']);
    expect(await codesOf({ signature }, unlimited({ parsed: long - 1 }))).toEqual(['body_too_complex']);
    expect(await codesOf({ signature }, unlimited({ parsed: long }))).toEqual(['unknown']);
    const rawBody = Uint8Array.of(0xff, 0xff);
    expect(await codesOf({ signature, rawBody }, unlimited({ parsed: 1 }))).toEqual(['body_too_complex']);
    expect(await codesOf({ signature, rawBody }, unlimited({ parsed: 2 }))).toEqual(['unknown']);
  });

  it('is not complete where the budget is used up, wherever that is', async () => {
    let looks = 0;
    const take = (): Promise<boolean> => Promise.resolve(++looks > 0);
    const given = { rawBody: 'text', signature: FOREIGN };
    expect(await codesOf(given, unlimited({ take }))).toEqual(['unknown']);
    for (const fewer of [0, 1, looks >> 2, looks >> 1, looks - 2, looks - 1]) {
      expect(await codesOf(given, sufficingFor(fewer))).toEqual(['body_too_complex']);
    }
    expect(await codesOf(given, sufficingFor(looks))).toEqual(['unknown']);
  });

  it('takes what it hashes out of the budget, but for the body as it is', async () => {
    const taken: number[] = [];
    const take = (bytes: number): Promise<boolean> => Promise.resolve(taken.push(bytes) > 0);
    await searching({}, unlimited({ take }));
    expect(taken).toEqual([]);
    await searching({ signature: signed(BODY, `${SECRET}\r\n`) }, unlimited({ take }));
    expect(taken.length).toBeGreaterThan(0);
    expect(new Set(taken)).toEqual(new Set([BODY.length]));
  });
});

describe('the guess where nothing is proven', () => {
  const guess = (given: Partial<DiagnoseOptions>, budget?: Budget) => codesOf({ signature: FOREIGN, ...given }, budget);

  it.each<readonly [what: string, secret: DiagnoseOptions['secret'], code: DiagnosisCode]>([
    ['the API key', 'sk_live_abc.0123', 'secret_api_key'],
    ['the API key behind a blank', ' sk_live_abc.0123', 'secret_api_key'],
    ['API keys', ['sk_live_a.0', 'sk_live_b.0'], 'secret_api_key'],
    ['an API key beside another', ['sk_live_a.0', 'another-secret'], 'unknown'],
    ['the start of an API key within', 'not-sk_live_abc', 'unknown'],
    ['undefined', 'undefined', 'secret_placeholder'],
    ['null in blanks', '  null\n\n', 'secret_placeholder'],
    ['ChangeMe', 'ChangeMe', 'secret_placeholder'],
    ['an object', '[object Object]', 'secret_placeholder'],
    ['placeholders', ['undefined', 'null'], 'secret_placeholder'],
    ['a placeholder beside another', ['undefined', 'another-secret'], 'unknown'],
    ['a placeholder beside bytes', ['undefined', Uint8Array.of(0xff)], 'unknown'],
    ['what begins with a placeholder', 'undefined-secret', 'unknown'],
    ['what ends with a placeholder', 'not-null', 'unknown'],
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe), 'unknown'],
    ['nothing that is a secret', [undefined, ''], 'secret_missing'],
  ])('about the secret: %s', async (_, secret, code) => {
    expect(await guess({ secret })).toEqual([code]);
  });

  it.each<readonly [what: string, rawBody: string | Uint8Array, code: DiagnosisCode]>([
    ['empty', '', 'body_empty'],
    ['an empty object', '{}', 'body_empty'],
    ['an object as text', '[object Object]', 'body_parsed'],
    ['compressed', Uint8Array.of(0x1f, 0x8b, 8), 'body_compressed'],
    ['half the mark of gzip', Uint8Array.of(0x1f, 0x8c, 8), 'unknown'],
    ['the other half', Uint8Array.of(0x1e, 0x8b, 8), 'unknown'],
    ['a character that was replaced', 'a\ufffdb', 'body_decoded'],
    ['one at the start', '\ufffdb', 'body_decoded'],
    ['one behind another that begins alike', '\uff21\uffc1\ufffd', 'body_decoded'],
    ['others that begin alike', '\uff21\uffc1\ufffc', 'unknown'],
    ['one whose third byte is the same', '\uff3d', 'unknown'],
  ])('about the body: %s', async (_, rawBody, code) => {
    expect(await guess({ rawBody })).toEqual([code]);
  });

  it('looks for replaced characters as far as the bound for texts', async () => {
    const rawBody = `${'x'.repeat(100)}\ufffd`;
    expect(await guess({ rawBody }, unlimited({ text: 103 }))).toEqual(['body_decoded']);
    expect(await guess({ rawBody }, unlimited({ text: 102 }))).toEqual(['body_too_complex']);
  });

  it('names all that is plainly wrong, in the order signature, secret, body', async () => {
    expect(await guess({ signature: undefined, secret: undefined, rawBody: '' })).toEqual([
      'signature_missing',
      'secret_missing',
      'body_empty',
    ]);
    expect(await guess({ rawBody: {} as unknown as string, secret: 'sk_live_a.0' })).toEqual(['secret_api_key', 'body_parsed']);
  });

  it('names the spelling of a signature too, where nothing else is plainly wrong', async () => {
    expect(await guess({ signature: FOREIGN.toUpperCase() })).toEqual(['signature_uppercase', 'unknown']);
    expect(await guess({ signature: FOREIGN.toUpperCase(), secret: 'undefined' })).toEqual(['secret_placeholder']);
  });
});

it('proves nothing of a signature that it sees without its body', () => {
  const causes = [{ code: 'signature_prefixed', message: MESSAGES.signature_prefixed, proven: false }];
  expect(diagnoseSpelling(`sha256=${FOREIGN}`)).toMatchObject({ matches: false, cause: 'signature_prefixed', causes });
});
