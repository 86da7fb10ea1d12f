import { describe, expect, it } from 'vitest';
import { duration, durationOption, wholeNumber } from '../src/terminal/input.js';

describe('a time on the command line', () => {
  it.each([
    ['0.5s', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['596h', 2_145_600_000],
  ])('%s has %d milliseconds', (text, milliseconds) => {
    expect(duration(text)).toBe(milliseconds);
  });

  it('has the default that the help shows', () => {
    const option = durationOption('--time-limit <time>', 'end after this time', '10m');
    expect(option).toMatchObject({ defaultValue: 600_000, defaultValueDescription: '10m' });
  });

  it.each(['0s', '597h', '30', '30S', '-1s', '1e3s', '1 m', '', '1d'])('is not %j', (text) => {
    expect(() => duration(text)).toThrow('It must be a time such as 30s, 5m or 1h');
  });
});

it('a whole number on the command line has both its bounds, and no others', () => {
  const parse = wholeNumber(1, 100);
  expect(['1', '100', '007'].map(parse)).toEqual([1, 100, 7]);
  for (const text of ['0', '101', '-1', '1.5', '1e1', '0x1', '', ' 1'])
    expect(() => parse(text)).toThrow('It must be a whole number from 1 to 100');
});
