import { describe, expect, it } from 'vitest';
import { bytesOf, fromBase64, fromHex, fromLatin1, toBase64, toHex, toLatin1, toText } from '../../src/diagnosis/encodings.js';

const ALL = Uint8Array.from({ length: 8_448 }, (_, index) => index % 256);

describe('an encoding', () => {
  it.each([
    ['a text', 'é', Uint8Array.of(0xc3, 0xa9)],
    ['bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
    ['an object', { length: 2 }, undefined],
    ['nothing', undefined, undefined],
  ])('gives the bytes of %s', (_, value, bytes) => {
    expect(bytesOf(value)).toEqual(bytes);
  });

  it('reads UTF-8 with its byte order mark, and nothing that is no UTF-8', () => {
    expect(toText(Buffer.from('\ufeffé'))).toBe('\ufeffé');
    expect(toText(Uint8Array.of(0x61, 0xff))).toBeUndefined();
  });

  it('of Latin-1 has a character for each byte, however many there are', () => {
    expect(toLatin1(ALL)).toBe(Buffer.from(ALL).toString('latin1'));
    expect(fromLatin1(toLatin1(ALL))).toEqual(ALL);
    expect(toLatin1(new Uint8Array())).toBe('');
  });

  it('in hex has two lower-case digits for each byte, and is read in either case', () => {
    expect(toHex(ALL)).toBe(Buffer.from(ALL).toString('hex'));
    expect(fromHex(toHex(ALL))).toEqual(ALL);
    expect(fromHex('0aFf')).toEqual(Uint8Array.of(0x0a, 0xff));
  });

  it.each(['', 'abc', '0g', 'g0', '0 00', '00\n'])('is not hex: %j', (text) => {
    expect(fromHex(text)).toBeUndefined();
  });

  it.each(['', 'f', 'fo', 'foo', '\xfb\xff\xbf'])('in base64 and base64url is read with padding and without: %j', (text) => {
    const bytes = fromLatin1(text);
    const base64 = Buffer.from(bytes).toString('base64');
    expect(toBase64(bytes)).toBe(base64);
    for (const written of [base64, base64.replaceAll('+', '-').replaceAll('/', '_'), Buffer.from(bytes).toString('base64url')])
      expect(fromBase64(written)).toEqual(bytes);
  });

  it('in base64 may be in lines, as in a mail', () => {
    expect(fromBase64('Zm9v\r\nZm9v\n')).toEqual(fromLatin1('foofoo'));
  });

  it.each(['a', 'ab=c', 'a.b', 'é', 'ab=', 'ab==='])('is not base64: %j', (text) => {
    expect(fromBase64(text)).toBeUndefined();
  });
});
