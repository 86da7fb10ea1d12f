import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/diagnosis/budget.js';
import { writings } from '../../src/diagnosis/json-writings.js';
import { all, sufficingFor, unlimited } from './unlimited.js';

function textsOf(
  value: unknown,
  budget: Budget = unlimited(),
  length = JSON.stringify(value).length,
) {
  return all(writings(value, length, budget), (bytes) => Buffer.from(bytes).toString());
}

const counting = () => {
  const taken: number[] = [];
  const take = (bytes: number): Promise<boolean> => Promise.resolve(taken.push(bytes) > 0);
  return { taken, budget: unlimited({ take }) };
};

/** Compact, as Python writes, and indented by two, four and a tab. */
const spacings = (value: unknown): string[] => [
  JSON.stringify(value),
  JSON.stringify(value).replaceAll(':', ': ').replaceAll(',', ', '),
  ...[2, 4, '\t'].map((indent) => JSON.stringify(value, null, indent)),
];

describe('the writings of a JSON value', () => {
  it('have five spacings, two orders of keys, and a line feed at the end or not', async () => {
    const given = { b: { d: true, c: null }, a: [{ f: '', e: '' }] };
    const sorted = { a: [{ e: '', f: '' }], b: { c: null, d: true } };
    const lines = [...spacings(given), ...spacings(sorted)];
    expect((await textsOf(given)).given).toEqual([...lines, ...lines.map((line) => `${line}\n`)]);
  });

  it.each<readonly [string, unknown, string[]]>([
    ['whole numbers as fractions', [1, -7, 1.5, true], ['[1,-7,1.5,true]', '[1.0,-7.0,1.5,true]']],
    ['other characters than ASCII', ['é'], ['["é"]', '["\\u00e9"]', '["\\u00E9"]']],
    ['slashes', ['/'], ['["/"]', '["\\/"]']],
    ['HTML', ['<'], ['["<"]', '["\\u003c"]', '["\\u003C"]']],
    ['line separators', ['\u2028'], ['["\u2028"]', '["\\u2028"]']],
    ['the escapes of .NET', ["'"], ['["\'"]', '["\\u0027"]']],
  ])('have each way to write %s once', async (_what, value, compact) => {
    const { given } = await textsOf(value);
    const lines = given.filter((_line, index) => index % 5 === 0);
    expect(lines).toEqual([...compact, ...compact.map((line) => `${line}\n`)]);
  });

  it('are whole if a character lies on the edge of a piece', async () => {
    const value = [`${'x'.repeat(1_022)}🙂${'y'.repeat(3_000)}`, '🙂'.repeat(2_000)];
    const { given, result } = await textsOf(value);
    expect(result).toBe(true);
    for (const text of given) expect(JSON.parse(text)).toEqual(value);
  });

  it('grow to at most six times the text and 4,096 bytes', async () => {
    const value = JSON.parse(`${'['.repeat(60)}${'1,'.repeat(100)}1${']'.repeat(60)}`) as unknown;
    const { given, result } = await textsOf(value);
    expect(result).toBe(false);
    expect(given).toContain(JSON.stringify(value));
    expect(given).not.toContain(JSON.stringify(value, null, 4));
  });

  it('are none if the value is nested deeper than the budget allows', async () => {
    const budget = unlimited({ depth: 2 });
    expect(await textsOf([[]], budget)).toMatchObject({ result: true });
    expect(await textsOf([[[7]]], budget)).toEqual({ given: [], result: false });
  });

  it('end as soon as the budget does', async () => {
    const many = Array.from({ length: 130 }, (_, index) =>
      index % 2 ? 'é/' : { b: index, a: null },
    );
    const { taken, budget } = counting();
    const { given, result } = await textsOf(many, budget);
    expect(result).toBe(true);
    for (const looks of [0, 1, 5, 20, taken.length >> 1, taken.length - 1]) {
      const cut = await textsOf(many, sufficingFor(looks));
      expect(cut.result).toBe(false);
      expect(cut.given).toEqual(given.slice(0, cut.given.length));
    }
  });

  it('take from the budget about a thousand bytes or 64 items at a time (N14)', async () => {
    const bytes = counting();
    await textsOf(['x'.repeat(50_000), 'y'.repeat(50_000)], bytes.budget);
    expect(Math.max(...bytes.taken)).toBeLessThan(2_100);
    const items = counting();
    await textsOf(Array<boolean>(6_400).fill(true), items.budget);
    expect(items.taken.length).toBeGreaterThan(1_100);
  });
});
