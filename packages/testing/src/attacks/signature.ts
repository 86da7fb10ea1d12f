/** Section A of the table of attacks, the signature header, and the weak secrets of section B. */
import { createHash } from 'node:crypto';
import { TEST_SECRET } from '../signed-delivery.js';
import { row, rowsOf, UNKNOWN_SECRET, withFlip } from './attack.js';
import type { Difference, Material, Row } from './attack.js';
import { forged, genuine } from './verdicts.js';

const missing = forged('accepts_unsigned');
const wrong = forged('does_not_verify');
const partial = forged('compares_part');
const spelling = forged('several_spellings', 'medium');
const repeated = forged('several_spellings', 'note');
const elsewhere = forged('reads_elsewhere', 'medium');
const weak = forged('public_secret');

/** The genuine body under these signatures. */
const signatures = rowsOf('signature');

const moved = (name: string, value: string): Difference => ({
  signature: null,
  headers: { [name]: value },
});

export const signatureRows = (material: Material): Row[] => [
  ...missingSignatures,
  ...spellings(material),
  ...otherSignatures(material),
  ...weakSecrets(material),
  ...otherPlaces(material),
];

const missingSignatures: readonly Row[] = [
  row('A01', missing, {
    'a delivery without a signature': { signature: null },
    'a delivery without any header of the service': { signature: null, event: null },
  }),
  signatures('A02', missing, { 'an empty signature': '', 'a blank signature': '   ' }),
];

const zeros = '0'.repeat(64);

function spellings({ signature: right }: Material): Row[] {
  const encodedAs = (encoding: BufferEncoding): string =>
    Buffer.from(right, 'hex').toString(encoding);
  const cut = [1, 2, 8, 16, 32, 48, 62, 63].map((length): [string, string] => [
    `the right signature cut to ${length} ${length === 1 ? 'character' : 'characters'}`,
    right.slice(0, length),
  ]);
  const fullWidth = right.replace(/./g, (digit) =>
    String.fromCodePoint(digit.codePointAt(0)! + 0xfee0),
  );
  const highBits = right.replace(/./g, (digit) => String.fromCharCode(digit.charCodeAt(0) | 0x80));
  return [
    signatures('A03', repeated, {
      'a line that lists the right signature twice': `${right}, ${right}`,
    }),
    signatures('A04', repeated, {
      'a line that lists the right signature and a forged one': `${right},${zeros}`,
      'a line that lists a forged signature and the right one': `${zeros}, ${right}`,
    }),
    signatures('A06', spelling, {
      'an upper-case signature': right.toUpperCase(),
      'a signature in mixed case': right.replace(/[a-f]/, (digit) => digit.toUpperCase()),
    }),
    signatures('A08', spelling, {
      'a signature with a space inside': `${right.slice(0, 32)} ${right.slice(32)}`,
    }),
    signatures('A09', spelling, {
      'a signature with the prefix "sha256="': `sha256=${right}`,
      'a signature with the prefix "v1="': `v1=${right}`,
      'a signature with the prefix "0x"': `0x${right}`,
      'a quoted signature': `"${right}"`,
      'the signature in base64': encodedAs('base64'),
      'the signature in base64url': encodedAs('base64url'),
    }),
    signatures('A11', partial, Object.fromEntries(cut)),
    signatures('A12', spelling, {
      'the right signature with one more digit': `${right}0`,
      'the right signature with "00" after it': `${right}00`,
      'the right signature with "zz" after it': `${right}zz`,
      'the right signature with a no-break space after it': `${right}\u00a0`,
      'the right signature with a digit before it': `0${right}`,
    }),
    signatures('A13', wrong, {
      '64 characters of which the first is not a hex digit': `g${right.slice(1)}`,
      '64 characters of which the last is not a hex digit': `${right.slice(0, 63)}g`,
      '64 characters without a hex digit': 'z'.repeat(64),
    }),
    signatures('A14', wrong, {
      '64 characters that include a Latin-1 letter': `${right.slice(0, 63)}é`,
      '64 bytes that include a UTF-8 character': onTheWire(`${right.slice(0, 62)}é`),
      'the right signature in full-width digits': onTheWire(fullWidth),
      'the right signature with the high bit of each digit set': highBits,
    }),
  ];
}

function otherSignatures({ signature: right, body, mac, secret }: Material): Row[] {
  const sha256 = (...parts: readonly (string | Uint8Array)[]): string =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
  const flips = Array.from({ length: 32 }, (_, byte) => byte * 8 + (byte % 8)).map(
    (bit): [string, string] => [
      `the right signature with bit ${bit} flipped`,
      withFlip(Buffer.from(right, 'hex'), bit).toString('hex'),
    ],
  );
  const sha512 = mac(body, undefined, 'sha512');
  return [
    signatures('A17', wrong, {
      'a signature of zeros': zeros,
      'a signature of 64 f digits': 'f'.repeat(64),
      'the signature of an empty body': mac(''),
    }),
    signatures('B13', wrong, { 'a signature made with another secret': mac(body, UNKNOWN_SECRET) }),
    signatures('A18', partial, Object.fromEntries(flips)),
    signatures('A19', wrong, {
      'an HMAC-SHA1 signature': mac(body, undefined, 'sha1'),
      'an HMAC-SHA512 signature': sha512,
      'an HMAC-SHA512 signature cut to 64 digits': sha512.slice(0, 64),
      'a SHA-256 digest of the body as the signature': sha256(body),
      'a SHA-256 digest of secret and body as the signature': sha256(secret, body),
      'an HMAC signature with key and message swapped': mac(secret, body),
    }),
  ];
}

/** Signs with secrets that misconfigured receivers use, except the receiver's own secret. */
function weakSecrets({ secret: own, body, mac }: Material): Row[] {
  const secrets: readonly (readonly [id: string, what: string, secret: string])[] = [
    ['A17', 'an empty secret', ''],
    ...['undefined', 'null', '[object Object]', 'changeme', 'secret'].map(
      (secret) => ['B04', `the secret "${secret}"`, secret] as const,
    ),
    ['B07', 'the public secret of @paylink/testing', TEST_SECRET],
  ];
  return secrets
    .filter(([, , secret]) => !Buffer.from(own).equals(Buffer.from(secret)))
    .map(([id, what, secret]) =>
      signatures(id, weak, { [`a signature made with ${what}`]: mac(body, secret) }),
    );
}

function otherPlaces({ signature: right, names, bodyWith }: Material): Row[] {
  const otherCase = names.signature.replace(/[a-z]/g, (letter, index: number) =>
    index % 2 === 0 ? letter : letter.toUpperCase(),
  );
  return [
    row('A21', elsewhere, {
      'a signature under a header name with underscores': moved('X_Service_Signature', right),
      'a signature under a similar header name': moved(`${names.signature}-256`, right),
      'a signature in the Authorization header': moved('Authorization', `Signature ${right}`),
    }),
    row('A21', genuine(), {
      'the right signature under a header name in another case': moved(otherCase, right),
    }),
    row('A23', elsewhere, {
      'a signature in the body': {
        body: bodyWith(`"signature":"${right}","${names.signature}":"${right}"`),
        signature: null,
      },
    }),
  ];
}

/** Encodes a non-Latin-1 text as HTTP clients do: each UTF-8 byte becomes one header character. */
function onTheWire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
