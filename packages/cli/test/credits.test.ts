import { describe, expect, it } from 'vitest';
import { splitWords } from '../src/audit/credits.js';

describe('the command of --credits', () => {
  it.each([
    ['node count.js {reference}', ['node', 'count.js', '{reference}']],
    ['  node\tcount.js ', ['node', 'count.js']],
    [String.raw`C:\tools\count.exe {reference}`, [String.raw`C:\tools\count.exe`, '{reference}']],
    [
      String.raw`"C:\Program Files\count.exe" {reference}`,
      [String.raw`C:\Program Files\count.exe`, '{reference}'],
    ],
    [
      String.raw`'C:\Program Files\count.exe' {reference}`,
      [String.raw`C:\Program Files\count.exe`, '{reference}'],
    ],
    [String.raw`count\ all.sh {reference}`, ['count all.sh', '{reference}']],
    [String.raw`a\\b a\"b a\'b`, [String.raw`a\b`, 'a"b', "a'b"]],
    [String.raw`"a\"b\\c" 'a\"b'`, [String.raw`a"b\c`, String.raw`a\"b`]],
    ['node \'\' ""', ['node', '', '']],
    ['count\\', ['count\\']],
  ])('is split into words as a shell would: %s', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });
});
