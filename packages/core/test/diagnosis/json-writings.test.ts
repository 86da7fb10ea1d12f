import { describe, expect, it } from 'vitest';
import { writings } from '../../src/diagnosis/json-writings.js';

/** Compact, as Python writes, and indented by two, four and a tab. */
const spacings = (value: unknown): string[] => [
  JSON.stringify(value),
  JSON.stringify(value).replaceAll(':', ': ').replaceAll(',', ', '),
  ...[2, 4, '\t'].map((indent) => JSON.stringify(value, null, indent)),
];

describe('the writings of a JSON value', () => {
  it('have five spacings, two orders of keys, and a line feed at the end or not', () => {
    const given = { b: { d: true, c: null }, a: [{ f: '', e: '' }, [], {}] };
    const sorted = { a: [{ e: '', f: '' }, [], {}], b: { c: null, d: true } };
    const lines = [...spacings(given), ...spacings(sorted)];
    expect([...writings(given)]).toEqual([...lines, ...lines.map((line) => `${line}\n`)]);
  });

  it.each<readonly [string, unknown, string[]]>([
    ['integers as fractions', [1, -7, 1.5, true], ['[1,-7,1.5,true]', '[1.0,-7.0,1.5,true]']],
    ['characters outside ASCII', ['é'], ['["é"]', '["\\u00e9"]', '["\\u00E9"]']],
    ['slashes', ['/'], ['["/"]', '["\\/"]']],
    ['HTML', ['<'], ['["<"]', '["\\u003c"]', '["\\u003C"]']],
    ['line separators', ['\u2028'], ['["\u2028"]', '["\\u2028"]']],
    ['the escapes of .NET', ["'"], ['["\'"]', '["\\u0027"]']],
  ])('have each way to write %s once', (_what, value, compact) => {
    const lines = [...writings(value)].filter((_line, index) => index % 5 === 0);
    const expected = [...compact, ...compact.map((line) => `${line}\n`)];
    expect(lines.sort()).toEqual(expected.sort());
  });

  it('keep keys of prototypes as keys', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":1}}');
    expect([...writings(value)]).toContain('{"__proto__": {"a": 1}}');
  });

  it('end with a RangeError if the value is nested more than 64 deep', () => {
    const nested = (depth: number): unknown =>
      JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
    expect(writings(nested(64)).next().value).toBe('['.repeat(64) + ']'.repeat(64));
    expect(() => writings(nested(65)).next()).toThrow(RangeError);
  });
});
