import { describe, expect, it } from 'vitest';
import type { DiagnosisCode } from '../../src/diagnosis/codes.js';
import { readSignature } from '../../src/diagnosis/given-signature.js';

const MAC = 'b5f3a9c07e21d46890ab13cd57ef2468fbffbf00112233445566778899aabbcc';
const OTHER = '0'.repeat(64);
const base64 = Buffer.from(MAC, 'hex').toString('base64');
const inside = (piece: string): string => `${MAC.slice(0, 32)}${piece}${MAC.slice(32)}`;

type Case = readonly [signature: unknown, ...codes: DiagnosisCode[]];

describe('a signature that was given', () => {
  it.each<Case>([
    [MAC],
    [[MAC]],
    [[undefined, MAC, 42]],
    [` ${MAC}`, 'signature_blanks'],
    [`${MAC}\n`, 'signature_blanks'],
    [`  ${MAC} \r\n`, 'signature_blanks'],
    [`"${MAC}"`, 'signature_quoted'],
    [`'${MAC}`, 'signature_quoted'],
    [`${MAC}\``, 'signature_quoted'],
    [`<${MAC}>`, 'signature_quoted'],
    [` "${MAC}" `, 'signature_blanks', 'signature_quoted'],
    [`sha256=${MAC}`, 'signature_prefixed'],
    [`SHA-256: ${MAC}`, 'signature_prefixed'],
    [`sha256:  ${MAC}`, 'signature_prefixed'],
    [`sha256 ${MAC}`, 'signature_prefixed'],
    [`hmac-sha256=${MAC}`, 'signature_prefixed'],
    [`hmac_sha256=${MAC}`, 'signature_prefixed'],
    [`HMACSHA256=${MAC}`, 'signature_prefixed'],
    [`v1=${MAC}`, 'signature_prefixed'],
    [`v12=${MAC}`, 'signature_prefixed'],
    [`t=1700000000,v1=${MAC}`, 'signature_prefixed'],
    [`signature=${MAC}`, 'signature_prefixed'],
    [`0x${MAC}`, 'signature_prefixed'],
    [base64, 'signature_base64'],
    [base64.replace('=', ''), 'signature_base64'],
    [Buffer.from(MAC, 'hex').toString('base64url'), 'signature_base64'],
    [`sha256=${base64}`, 'signature_prefixed', 'signature_base64'],
    [`v1,${base64}`, 'signature_prefixed', 'signature_base64'],
    [MAC.toUpperCase(), 'signature_uppercase'],
    [MAC.replace('b', 'B'), 'signature_uppercase'],
    [`v1=${MAC.toUpperCase()}`, 'signature_prefixed', 'signature_uppercase'],
  ])('has one MAC that it stands for, and what is wrong with its spelling: %j', (signature, ...codes) => {
    const given = readSignature(signature);
    expect(given).toMatchObject({ digits: MAC, codes });
    expect(given.fits(MAC)).toBe(true);
    expect(given.fits(OTHER)).toBe(false);
    expect(given.fits(MAC.slice(0, 63))).toBe(false);
  });

  it.each<Case>([
    [`${MAC}0`, 'signature_extended'],
    [`${MAC} and more`, 'signature_extended'],
    [`${MAC}zz`, 'signature_extended'],
    [`${MAC.toUpperCase()}ZZ`, 'signature_uppercase', 'signature_extended'],
    [` ${MAC}00`, 'signature_blanks', 'signature_extended'],
    [`${MAC}${'x'.repeat(936)}`, 'signature_extended'],
  ])('stands for its first 64 digits where it has more: %#', (signature, ...codes) => {
    const given = readSignature(signature);
    expect(given.codes).toEqual(codes);
    expect(given.fits(MAC)).toBe(true);
    expect(given.fits(OTHER)).toBe(false);
  });

  it.each<Case>([
    [MAC.slice(0, 63), 'signature_truncated'],
    [MAC.slice(0, 8), 'signature_truncated'],
    [` ${MAC.slice(0, 60)}`, 'signature_blanks', 'signature_truncated'],
    [MAC.slice(0, 60).toUpperCase(), 'signature_uppercase', 'signature_truncated'],
  ])('stands for all that begin with it where it is cut off: %j', (signature, ...codes) => {
    const given = readSignature(signature);
    expect(given.codes).toEqual(codes);
    expect(given.fits(MAC)).toBe(true);
    expect(given.fits(OTHER)).toBe(false);
  });

  it.each<readonly [signature: unknown, digits: string]>([
    [`${MAC}, ${MAC}`, MAC + MAC],
    [`${OTHER},${MAC}`, OTHER + MAC],
    [[OTHER, MAC], OTHER + MAC],
    [`,${MAC}`, MAC],
    [`v1,${MAC},${OTHER}`, MAC + OTHER],
    [`${MAC}v1,${OTHER}`, MAC + OTHER],
    [[MAC, `v1=${OTHER}`], MAC + OTHER],
  ])('stands for each of several, and says only that there are several: %j', (signature, digits) => {
    const given = readSignature(signature);
    expect(given).toMatchObject({ digits, codes: ['signature_repeated'] });
    expect(given.fits(MAC)).toBe(true);
    expect(given.fits(MAC.replace('b', 'c'))).toBe(false);
  });

  it.each<Case>([
    [undefined, 'signature_missing'],
    [[], 'signature_missing'],
    ['', 'signature_missing'],
    [' , ', 'signature_missing'],
    [null, 'signature_malformed'],
    [42, 'signature_malformed'],
    [[42], 'signature_malformed'],
    ['not a signature', 'signature_malformed'],
    [`g${MAC.slice(1)}`, 'signature_malformed'],
    [MAC.slice(0, 7), 'signature_malformed'],
    [`${MAC.slice(0, 20)}z`, 'signature_malformed'],
    ['x'.repeat(40), 'signature_malformed'],
    [inside(' '), 'signature_malformed'],
    [inside('"'), 'signature_malformed'],
    [inside('0x'), 'signature_malformed'],
    [`abcdef-sha256=${MAC}`, 'signature_malformed'],
    [`abcdefsha256=${MAC}`, 'signature_malformed'],
    [`shaa256=${MAC}`, 'signature_malformed'],
    [`${base64}=`, 'signature_malformed'],
    [`${MAC}${'x'.repeat(937)}`, 'signature_malformed'],
    [[MAC + 'x'.repeat(500), MAC + 'x'.repeat(500)], 'signature_malformed'],
    [MAC.slice(0, 40), 'signature_algorithm'],
    [MAC + MAC, 'signature_algorithm'],
    [` ${MAC}${MAC}`, 'signature_algorithm'],
  ])('stands for none: %j', (signature, code) => {
    const given = readSignature(signature);
    expect(given).toMatchObject({ digits: '', codes: [code] });
    expect(given.fits(MAC)).toBe(false);
    expect(given.fits('')).toBe(false);
  });
});
