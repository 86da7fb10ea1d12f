import { describe, expect, it } from 'vitest';
import { bodyVariants } from '../../src/diagnosis/body-variants.js';
import type { Budget } from '../../src/diagnosis/budget.js';
import type { DiagnosisCode } from '../../src/diagnosis/codes.js';
import { all, sufficingFor, unlimited } from './unlimited.js';

function variantsOf(body: string | Uint8Array, budget: Budget = unlimited()) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return all(bodyVariants(bytes, budget), ({ code, value }) => [code, Buffer.from(value).toString()] as const);
}

/** What may have been signed, of one cause. */
async function signedOf(body: string | Uint8Array, code: DiagnosisCode): Promise<string[]> {
  const { given } = await variantsOf(body);
  return given.filter(([found]) => found === code).map(([, text]) => text);
}

describe('what may have been signed where the body', () => {
  const rows: readonly (readonly [what: string, body: string, code: DiagnosisCode, ...signed: string[]])[] = [
    ['has content', '7', 'body_empty', ''],
    ['is empty', '', 'body_empty'],
    ['is one word', 'x', 'body_newline', 'x\n', 'x\r\n', 'x\n', ' x', 'x '],
    ['ends with a line feed', 'x\ny\n', 'body_newline', 'x\ny', 'x\ny\n\n', 'x\ny\n\r\n', 'x\ny', ' x\ny\n', 'x\ny\n '],
    ['ends with CR LF', 'x\r\n', 'body_newline', 'x', 'x\r\n\n', 'x\r\n\r\n', 'x', 'x\n', ' x\r\n', 'x\r\n '],
    [
      'has blanks around it',
      ' \t\r\n x y \n\r\t ',
      'body_newline',
      ' \t\r\n x y \n\r\t \n',
      ' \t\r\n x y \n\r\t \r\n',
      'x y',
      'x y\n',
      '  \t\r\n x y \n\r\t ',
      ' \t\r\n x y \n\r\t  ',
    ],
    ['has two line feeds', 'x\ny\nz', 'body_line_breaks', 'x\r\ny\r\nz'],
    ['has two CR LFs', 'x\r\ny\r\nz', 'body_line_breaks', 'x\ny\nz'],
    ['has a byte order mark', '\ufeffx\ufeff', 'body_bom', 'x\ufeff', '\ufeff\ufeffx\ufeff'],
    ['has none', 'x\ufeff', 'body_bom', '\ufeffx\ufeff'],
    ['is base64', 'eyJhIjoxfQ==', 'body_base64', '{"a":1}'],
    ['is base64 and a line', 'eyJhIjoxfQ==\n', 'body_base64', '{"a":1}'],
    ['is no base64', '{"a":1}', 'body_base64'],
    ['was decoded as Latin-1', 'Ã«', 'body_decoded', 'ë', 'Ã\u0083Â«'],
    ['cannot have been decoded as Latin-1', 'Ã«Ā', 'body_decoded', 'Ã\u0083Â«Ä\u0080'],
    ['cannot have been either', 'ĀÃ«', 'body_decoded', 'Ä\u0080Ã\u0083Â«'],
    ['is the text of bytes', '123,34,65,125', 'body_buffer', '{"A}'],
    ['is the text of two bytes', '7,8', 'body_buffer', '\u0007\u0008'],
    ['is one number', '123', 'body_buffer'],
    ['has a number that is no byte', '1,2,1234', 'body_buffer'],
    ['begins with one', '1234,1', 'body_buffer'],
    ['is a Buffer as JSON', '{"type":"Buffer","data":[123,125]}', 'body_buffer', '{}'],
    ['is a Uint8Array as JSON', '{"0":123,"1":125}', 'body_buffer', '{}'],
    ['is an array of bytes as JSON', '[0,255]', 'body_buffer', '\u0000\ufffd'],
    ['is a Buffer without content', '{"type":"Buffer","data":[]}', 'body_buffer'],
    ['is a Buffer with no list', '{"type":"Buffer","data":7}', 'body_buffer'],
    ['is of another type with a list', '{"type":"List","data":[1]}', 'body_buffer'],
    ['is an object whose keys do not count on', '{"0":1,"2":1}', 'body_buffer'],
    ['has a number over 255', '[1,256]', 'body_buffer'],
    ['has a number under 0', '[1,-1]', 'body_buffer'],
    ['has a fraction', '[1,1.5]', 'body_buffer'],
    ['is an empty object', '{}', 'body_buffer'],
    ['is null', 'null', 'body_buffer'],
    ['is a JSON text within one', '"{\\"a\\":1}"', 'body_reserialized', '{"a":1}'],
    ['is no JSON', '{', 'body_reserialized'],
    ['is bytes as JSON', '[1,2]', 'body_reserialized'],
  ];
  it.each(rows.map(([what, body, code, ...signed]) => [what, body, code, signed] as const))('%s', async (_, body, code, signed) => {
    expect(await signedOf(body, code)).toEqual(signed);
  });

  it('is JSON behind a byte order mark: that JSON in other writings', async () => {
    expect(await signedOf('\ufeff{"a":true}', 'body_reserialized')).toContain('{"a": true}');
    expect(await signedOf('{"a":"x\ufeff"}', 'body_reserialized')).toContain('{"a": "x\ufeff"}');
  });

  it('is no UTF-8: what a decoder made of it', async () => {
    const body = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61, 0xff);
    expect(await variantsOf(body)).toEqual({
      given: [
        ['body_empty', ''],
        ['body_decoded', 'ï»¿aÿ'],
        ['body_decoded', '\ufeffa\ufffd'],
      ],
      result: true,
    });
  });
});

describe('the search for what was signed', () => {
  it.each(['{"a":1}', '"text"', '1,2', '[1,2]', '{', Uint8Array.of(0xff)])(
    'is complete where the budget suffices: %j',
    async (body) => {
      let looks = 0;
      const take = (): Promise<boolean> => Promise.resolve(++looks > 0);
      const { given, result } = await variantsOf(body, unlimited({ take }));
      expect(result).toBe(true);
      expect(looks).toBeGreaterThan(2);
      for (const fewer of [0, 1, 2, looks >> 1, looks - 1]) {
        const cut = await variantsOf(body, sufficingFor(fewer));
        expect(cut.result).toBe(false);
        expect(given.map(String)).toEqual(expect.arrayContaining(cut.given.map(String)));
        expect(cut.given.length).toBeLessThanOrEqual(given.length);
      }
    },
  );

  it('looks at the budget before each change: what is used up gives nothing more', async () => {
    for (let looks = 0; looks < 4; looks++) {
      const { given } = await variantsOf('x\n', sufficingFor(looks));
      expect(given).toHaveLength([1, 1, 2, 3][looks]!);
    }
  });

  it('parses nothing once the budget is used up', async () => {
    const codes = async (looks: number) => (await variantsOf('"text"', sufficingFor(looks))).given.map(([code]) => code);
    // One for the text, one for each of 14 changes, and one for the parsing.
    expect(await codes(15)).not.toContain('body_reserialized');
    expect(await codes(16)).toContain('body_reserialized');
  });

  it('takes as much as the body is long', async () => {
    const taken: number[] = [];
    const take = (bytes: number): Promise<boolean> => Promise.resolve(taken.push(bytes) > 0);
    await variantsOf('x'.repeat(100), unlimited({ take }));
    expect(new Set(taken)).toEqual(new Set([100]));
  });

  it('decodes no body over its bound for texts, and parses none over that for JSON', async () => {
    const body = '{"a": 1}';
    expect(await variantsOf(body, unlimited({ text: 7 }))).toEqual({ given: [['body_empty', '']], result: false });
    const unparsed = await variantsOf(body, unlimited({ text: 8, parsed: 7 }));
    expect(unparsed.result).toBe(false);
    expect(unparsed.given.map(([code]) => code)).not.toContain('body_reserialized');
    const parsed = await variantsOf(body, unlimited({ text: 8, parsed: 8 }));
    expect(parsed.result).toBe(true);
    expect(parsed.given.map(([code]) => code)).toContain('body_reserialized');
  });

  it('is complete for bytes that are no UTF-8, however long: they are not parsed', async () => {
    expect((await variantsOf(Uint8Array.of(0xff, 0xff), unlimited({ parsed: 1 }))).result).toBe(true);
  });
});
