import { describe, expect, it } from 'vitest';
import { variantsOf } from '../../src/diagnosis/variants.js';

describe('the variants of what was received', () => {
  const original = Buffer.from('abc');

  it('are those that differ from it: by a byte, or by their length', () => {
    const values = ['abc', 'abd', Buffer.from('abc'), 'ab', 'abcd', 'xbc', undefined];
    const variants = [...variantsOf('body_newline', original, ...values)];
    expect(variants.map(({ value }) => Buffer.from(value).toString())).toEqual(['abd', 'ab', 'abcd', 'xbc']);
    expect(variants.every(({ code }) => code === 'body_newline')).toBe(true);
  });

  it('are empty only where that is the cause: an HMAC has no empty key', () => {
    expect([...variantsOf('secret_blanks', original, '')]).toEqual([]);
    expect([...variantsOf('body_empty', original, '')]).toEqual([{ code: 'body_empty', value: new Uint8Array() }]);
    expect([...variantsOf('body_empty', original, 'a')]).toHaveLength(1);
  });
});
