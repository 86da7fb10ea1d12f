import { TEST_SECRET } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import type { DiagnosisCode } from '../../src/diagnosis/codes.js';
import { secretVariants } from '../../src/diagnosis/secret-variants.js';

/** The keys that the signer may have used, of one cause. */
function keysOf(secret: string | Uint8Array, code: DiagnosisCode): string[] {
  const variants = secretVariants(typeof secret === 'string' ? Buffer.from(secret) : secret);
  return variants.filter((variant) => variant.code === code).map(({ value }) => Buffer.from(value).toString('latin1'));
}

describe('the keys that a signer may have used where the secret', () => {
  it.each<readonly [what: string, secret: string, code: DiagnosisCode, key: string]>([
    ['has blanks around it', '  the-key \t', 'secret_blanks', 'the-key'],
    ['has a line break at its end', 'the-key\r\n', 'secret_blanks', 'the-key'],
    ['has an escape at its end', 'the-key\\n', 'secret_blanks', 'the-key'],
    ['has two escapes at its end', 'the-key\\r\\n', 'secret_blanks', 'the-key'],
    ['has an escape and a line break', 'the-key\\r\n', 'secret_blanks', 'the-key'],
    ['lacks a line feed', 'the-key', 'secret_blanks', 'the-key\n'],
    ['lacks CR LF', 'the-key', 'secret_blanks', 'the-key\r\n'],
    ['lacks a blank behind it', 'the-key', 'secret_blanks', 'the-key '],
    ['lacks a blank before it', 'the-key', 'secret_blanks', ' the-key'],
    ['is in double quotes', '"the-key"', 'secret_quoted', 'the-key'],
    ['is in single quotes', "'the-key'", 'secret_quoted', 'the-key'],
    ['is in backticks and a line', '`the-key`\n', 'secret_quoted', 'the-key'],
    ['is in quotes over two lines', '"the\nkey"', 'secret_quoted', 'the\nkey'],
    ['lacks double quotes', 'the-key', 'secret_quoted', '"the-key"'],
    ['lacks single quotes', 'the-key', 'secret_quoted', "'the-key'"],
    ['begins with a name', 'SECRET=the-key', 'secret_assignment', 'the-key'],
    ['begins with a name in lower case', 'webhook_secret2=the-key', 'secret_assignment', 'the-key'],
    ['begins with a name and blanks', 'SECRET  =  the-key', 'secret_assignment', 'the-key'],
    ['begins with a name of YAML', 'secret: the-key', 'secret_assignment', 'the-key'],
    ['begins with export', 'export  SECRET=the-key', 'secret_assignment', 'the-key'],
    ['begins with a name, and is in quotes', 'SECRET="the-key"', 'secret_assignment', 'the-key'],
    ['begins with a name, and is in single quotes', "SECRET='the-key'", 'secret_assignment', 'the-key'],
    ['begins with a name, and has two lines', 'SECRET="the\nkey"', 'secret_assignment', 'the\nkey'],
    ['begins with a name, and has a quote', 'SECRET=the"key', 'secret_assignment', 'the"key'],
    ['is hex', '7468652d6b6579', 'secret_encoding', 'the-key'],
    ['is base64', 'dGhlLWtleQ==', 'secret_encoding', 'the-key'],
    ['is base64 behind a prefix', 'whsec_dGhlLWtleQ==', 'secret_encoding', 'the-key'],
    ['has a prefix', 'whsec_the-key', 'secret_encoding', 'the-key'],
    ['is what hex gave', 'the-kez', 'secret_encoding', '7468652d6b657a'],
    ['is what hex in upper case gave', 'the-kez', 'secret_encoding', '7468652D6B657A'],
    ['is what base64 gave', 'the-key', 'secret_encoding', 'dGhlLWtleQ=='],
    ['is what base64 without padding gave', 'the-key', 'secret_encoding', 'dGhlLWtleQ'],
  ])('%s', (_, secret, code, key) => {
    expect(keysOf(secret, code)).toContain(key);
  });

  const rows: readonly (readonly [what: string, secret: string, code: DiagnosisCode, ...keys: string[]])[] = [
    ['an escape within', 'the\\nkey', 'secret_blanks', 'the\\nkey\n', 'the\\nkey\r\n', 'the\\nkey ', ' the\\nkey'],
    ['quotes within', 'the"k"ey', 'secret_quoted', '"the"k"ey"', `'the"k"ey'`],
    ['another quote at its end', `"the-key'`, 'secret_quoted', `""the-key'"`, `'"the-key''`],
    ['a quote before its end', '"the"-key', 'secret_quoted', '""the"-key"', `'"the"-key'`],
    ['a quote behind its start', 'the-"key"', 'secret_quoted', '"the-"key""', `'the-"key"'`],
    ['a sign behind what is no name', 'the-key=1', 'secret_assignment'],
    ['a name that begins with a digit', '1KEY=x', 'secret_assignment'],
    ['no name before the sign', '=the-key', 'secret_assignment'],
    ['a quote that something follows', 'SECRET="the-key" # mine', 'secret_assignment', '"the-key" # mine'],
    ['a name without a sign', 'SECRET the-key', 'secret_assignment'],
    ['a prefix within', 'the-whsec_key!', 'secret_encoding', ...encoded('the-whsec_key!')],
    ['characters that are neither hex nor base64', 'the.key!', 'secret_encoding', ...encoded('the.key!')],
  ];
  it.each(rows.map(([what, secret, code, ...keys]) => [what, secret, code, keys] as const))(
    'has %s: none but those',
    (_, secret, code, keys) => {
      expect(keysOf(secret, code)).toEqual(keys);
    },
  );

  it('is no text: only how its bytes are written', () => {
    const secret = Uint8Array.of(0xff, 0xfe, 0x01);
    expect(secretVariants(secret).map(({ code, value }) => [code, Buffer.from(value).toString()])).toEqual([
      ['secret_encoding', 'fffe01'],
      ['secret_encoding', 'FFFE01'],
      ['secret_encoding', '//4B'],
      ['secret_encoding', '//4B'],
      ['secret_fixture', TEST_SECRET],
      ['secret_fixture', 'the-secret-of-your-tests'],
    ]);
  });
});

function encoded(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = bytes.toString('base64');
  return [bytes.toString('hex'), bytes.toString('hex').toUpperCase(), base64, base64.replace(/=+$/, '')];
}
