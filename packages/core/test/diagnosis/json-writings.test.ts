import { describe, expect, it, vi } from 'vitest';
import type { Budget } from '../../src/diagnosis/budget.js';
import { writings } from '../../src/diagnosis/json-writings.js';
import { all, sufficingFor, unlimited } from './unlimited.js';

function textsOf(value: unknown, budget: Budget = unlimited(), length = JSON.stringify(value).length) {
  return all(writings(value, length, budget), (bytes) => Buffer.from(bytes).toString());
}

/** What JavaScript writes, with blanks behind colons and commas as Python has them. Its texts have neither. */
const asPython = (value: unknown): string => JSON.stringify(value).replaceAll(':', ': ').replaceAll(',', ', ');

const spacings = (value: unknown): string[] => [
  JSON.stringify(value),
  asPython(value),
  JSON.stringify(value, null, 2),
  JSON.stringify(value, null, 4),
  JSON.stringify(value, null, '\t'),
];

describe('the writings of a JSON value', () => {
  const nested = [true, null, {}, [], ['x', { k: false }]];

  it('are compact, as Python writes, and indented by two, four and a tab, without a line feed at the end and with one', async () => {
    const lines = spacings(nested);
    expect(await textsOf(nested)).toEqual({ given: [...lines, ...lines.map((line) => `${line}\n`)], result: true });
  });

  it('have the keys in their order, and sorted at every depth', async () => {
    const given = { b: { d: true, c: null }, a: [{ f: '', e: '' }] };
    const sorted = { a: [{ e: '', f: '' }], b: { c: null, d: true } };
    const lines = [...spacings(given), ...spacings(sorted)];
    expect((await textsOf(given)).given).toEqual([...lines, ...lines.map((line) => `${line}\n`)]);
  });

  it('are these and no others where there is no text, no whole number and no key', async () => {
    const lines = spacings([true, null]);
    expect((await textsOf([true, null])).given).toEqual([...lines, ...lines.map((line) => `${line}\n`)]);
  });

  it('sort keys by code units, as most libraries do', async () => {
    expect((await textsOf({ b: true, B: true, é: true, '10': true, '9': true })).given).toContain(
      '{"10":true,"9":true,"B":true,"b":true,"é":true}',
    );
  });

  it('have whole numbers as they are, and as fractions', async () => {
    const value = [1, -7, 1.5, 1e300, 'x1', true];
    const floats = (line: string): string => line.replace(/(?<=[[, \t])-?[17](?=,)/g, '$&.0');
    const lines = spacings(value);
    const { given } = await textsOf(value);
    expect(given.slice(0, 10)).toEqual([...lines, ...lines.map(floats)]);
    expect(given[5]).toBe('[1.0,-7.0,1.5,1e+300,"x1",true]');
    expect(given).toHaveLength(20);
  });

  const rows: readonly (readonly [what: string, value: readonly string[], ...compact: string[]])[] = [
    ['nothing to escape', ['x'], '["x"]'],
    ['what is not ASCII', ['é\x7f'], '["é\x7f"]', '["\\u00e9\\u007f"]', '["\\u00E9\\u007F"]'],
    ['what has no letter in its escape', ['\u2019'], '["\u2019"]', '["\\u2019"]'],
    ['a slash', ['/'], '["/"]', '["\\/"]'],
    ['a slash and what is not ASCII', ['/\u2019/'], '["/\u2019/"]', '["/\\u2019/"]', '["\\/\u2019\\/"]', '["\\/\\u2019\\/"]'],
    ['HTML', ['<a>&'], '["<a>&"]', '["\\u003ca\\u003e\\u0026"]', '["\\u003Ca\\u003E\\u0026"]'],
    ['separators of lines', ['\u2028\u2029'], '["\u2028\u2029"]', '["\\u2028\\u2029"]'],
    ['what .NET alone escapes', ["'+`"], '["\'+`"]', '["\\u0027\\u002B\\u0060"]'],
    ['one in each of two', ['/', '<'], '["/","<"]', '["\\/","<"]', '["/","\\u003c"]', '["/","\\u003C"]'],
  ];
  it.each(rows.map(([what, value, ...compact]) => [what, value, compact] as const))(
    'have each way to escape once: %s',
    async (_, value, compact) => {
      const { given } = await textsOf(value);
      expect(given.filter((_line, index) => index % 5 === 0)).toEqual([...compact, ...compact.map((line) => `${line}\n`)]);
    },
  );

  it('escape nothing but texts and keys', async () => {
    const { given } = await textsOf([1e300, '+']);
    expect(given).toContain('[1e+300,"\\u002B"]');
  });

  it('escape keys as they do values', async () => {
    expect((await textsOf({ 'é/': true })).given).toContain('{"\\u00e9\\/": true}');
  });

  it('are whole where texts are long and their characters lie on the edge of a piece', async () => {
    for (const front of [1_021, 1_022, 1_023]) {
      const value = [`${'x'.repeat(front)}🙂${'y'.repeat(3_000)}`, '🙂'.repeat(2_000)];
      const { given, result } = await textsOf(value);
      expect(result).toBe(true);
      expect(given.slice(0, 5)).toEqual([
        JSON.stringify(value),
        JSON.stringify(value).replace('",', '", '),
        JSON.stringify(value, null, 2),
        JSON.stringify(value, null, 4),
        JSON.stringify(value, null, '\t'),
      ]);
      // Twice escaped, too: in lower case and in upper case.
      expect(given).toHaveLength(30);
      for (const text of given) expect(JSON.parse(text)).toEqual(value);
    }
  });

  it('are whole where there are many items', async () => {
    const value = Array.from({ length: 200 }, (_, index) => [{ [`k${index}`]: index % 2 === 0 }]);
    expect((await textsOf(value)).given.slice(0, 5)).toEqual(spacings(value));
  });

  it('take no more space than six times the text and 4,096 bytes: what grows more is left out, and the search is not complete', async () => {
    const value = JSON.parse(`${'['.repeat(60)}${'1,'.repeat(100)}1${']'.repeat(60)}`) as unknown;
    const { given, result } = await textsOf(value);
    expect(result).toBe(false);
    expect(given).toContain(JSON.stringify(value));
    expect(given).not.toContain(JSON.stringify(value, null, 4));
    const wide = await textsOf(value, unlimited(), JSON.stringify(value, null, 4).length);
    expect(wide.result).toBe(true);
    expect(wide.given).toContain(JSON.stringify(value, null, 4));
  });

  it('are none where it is nested deeper than the budget allows', async () => {
    expect(await textsOf([[[]]], unlimited({ depth: 2 }))).toMatchObject({ result: true });
    expect(await textsOf([[[7]]], unlimited({ depth: 2 }))).toEqual({ given: [], result: false });
    expect(await textsOf([[{ a: 7 }]], unlimited({ depth: 3 }))).toMatchObject({ result: true });
  });
});

describe('the writing of a JSON value', () => {
  const many = Array.from({ length: 130 }, (_, index) => (index % 2 === 0 ? 'é/' : { b: index, a: null }));

  it('ends where the budget does, and says so', async () => {
    let looks = 0;
    const take = (): Promise<boolean> => Promise.resolve(++looks > 0);
    const { given, result } = await textsOf(many, unlimited({ take }));
    expect(result).toBe(true);
    for (const fewer of [0, 1, 5, 20, looks >> 1, looks - 1]) {
      const cut = await textsOf(many, sufficingFor(fewer));
      expect(cut.result).toBe(false);
      expect(cut.given).toEqual(given.slice(0, cut.given.length));
      expect(cut.given.length).toBeLessThan(given.length);
    }
  });

  it('reads 64 values at most between two looks at the budget', async () => {
    let read = 0;
    let most = 0;
    const watched = new Proxy(many, {
      get(target, name, receiver) {
        if (typeof name === 'string' && name !== 'length') most = Math.max(most, ++read);
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
    const take = (): Promise<boolean> => {
      read = 0;
      return Promise.resolve(true);
    };
    await textsOf(watched, unlimited({ take }), 10_000);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(64);
  });

  it('looks at the budget for about each 64 items, so that short ones are written in pieces, too', async () => {
    const take = vi.fn(() => Promise.resolve(true));
    const { given } = await textsOf(
      Array.from({ length: 6_400 }, () => true),
      unlimited({ take }),
    );
    expect(given).toHaveLength(10);
    // 100 looks for each of two orders of the keys, and for each writing.
    expect(take.mock.calls.length).toBeGreaterThan(1_100);
    expect(take.mock.calls.length).toBeLessThan(1_300);
  });

  it('takes what it writes and escapes out of the budget, about a thousand bytes at a time', async () => {
    const taken: number[] = [];
    const take = (bytes: number): Promise<boolean> => Promise.resolve(taken.push(bytes) > 0);
    const long = ['x'.repeat(50_000), 'y'.repeat(50_000)];
    const { given } = await textsOf(long, unlimited({ take }));
    const written = given.reduce((sum, text) => sum + text.length, 0);
    const sum = taken.reduce((total, bytes) => total + bytes, 0);
    // Each of five ways to escape has to see that nothing in the texts is to be escaped.
    expect(sum).toBeGreaterThan(written + 5 * 100_000);
    expect(Math.max(...taken)).toBeLessThan(2_100);
  });
});
