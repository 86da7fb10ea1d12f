/** Section A of the table of attacks, the signature header, and the weak secrets of section B. */
import { createHash } from 'node:crypto';
import { TEST_SECRET } from '../signed-delivery.js';
import {
  row,
  UNKNOWN_SECRET,
  type Attack,
  type Difference,
  type Line,
  type Material,
  type Verdict,
} from './attack.js';
import { verdicts } from './verdicts.js';

const { missing, forged, partial, spelling, repeated, elsewhere, weak, anyCase } =
  verdicts.signature;

/** Rows that attack the spelling of this service's signatures. */
const SPELLING_ROWS: ReadonlySet<string> = new Set(
  'A03 A04 A06 A08 A09 A11 A12 A13 A14 A18 A19'.split(' '),
);

type Row = readonly [id: string, verdict: Verdict, signatures: Readonly<Record<string, string>>];

export function signatureAttacks(material: Material): Attack[] {
  const { signature: right, names } = material;
  const signed = (what: string, signature: string): Line => [what, { signature }];
  return [
    ...row(material, 'A01', missing, [
      ['a delivery without a signature', { signature: null }],
      ['a delivery without any header of the service', { signature: null, event: null }],
    ]),
    ...rowsOf(material).flatMap(([id, verdict, signatures]) =>
      row(
        material,
        id,
        verdict,
        Object.entries(signatures).map(([what, signature]) => signed(what, signature)),
      ),
    ),
    ...weakSecrets(material),
    ...row(material, 'A21', elsewhere, [
      ['a signature under a header name with underscores', moved(right, 'X_Service_Signature')],
      ['a signature under a similar header name', moved(right, `${names.signature}-256`)],
      ['a signature in the Authorization header', moved(`Signature ${right}`, 'Authorization')],
    ]),
    ...row(material, 'A21', anyCase, [
      [
        'the right signature under a header name in another case',
        moved(right, names.signature.replace(/[a-z]/g, alternateCase)),
      ],
    ]),
    ...row(material, 'A23', elsewhere, [signatureInBody(material)]),
  ].filter(({ id }) => material.isHex || !SPELLING_ROWS.has(id));
}

function rowsOf({ signature: right, body, mac, secret, isHex }: Material): Row[] {
  const zeros = '0'.repeat(64);
  const sha256 = (...parts: readonly (string | Uint8Array)[]): string =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
  const cut = Object.fromEntries(
    [1, 2, 8, 16, 32, 48, 62, 63].map((length) => [
      `the right signature cut to ${length} ${length === 1 ? 'character' : 'characters'}`,
      right.slice(0, length),
    ]),
  );
  const flips = Object.fromEntries(
    Array.from({ length: isHex ? 32 : 0 }, (_, byte) => byte * 8 + (byte % 8)).map((bit) => [
      `the right signature with bit ${bit} flipped`,
      flipped(right, bit),
    ]),
  );
  return [
    ['A02', missing, { 'an empty signature': '', 'a blank signature': '   ' }],
    ['A03', repeated, { 'a line that lists the right signature twice': `${right}, ${right}` }],
    [
      'A04',
      repeated,
      {
        'a line that lists the right signature and a forged one': `${right},${zeros}`,
        'a line that lists a forged signature and the right one': `${zeros}, ${right}`,
      },
    ],
    [
      'A06',
      spelling,
      {
        'an upper-case signature': right.toUpperCase(),
        'a signature in mixed case': right.replace(/[a-f]/, (digit) => digit.toUpperCase()),
      },
    ],
    [
      'A08',
      spelling,
      { 'a signature with a space inside': `${right.slice(0, 32)} ${right.slice(32)}` },
    ],
    [
      'A09',
      spelling,
      {
        'a signature with the prefix "sha256="': `sha256=${right}`,
        'a signature with the prefix "v1="': `v1=${right}`,
        'a signature with the prefix "0x"': `0x${right}`,
        'a quoted signature': `"${right}"`,
        'the signature in base64': Buffer.from(right, 'hex').toString('base64'),
        'the signature in base64url': Buffer.from(right, 'hex').toString('base64url'),
      },
    ],
    ['A11', partial, cut],
    [
      'A12',
      spelling,
      {
        'the right signature with one more digit': `${right}0`,
        'the right signature with "00" after it': `${right}00`,
        'the right signature with "zz" after it': `${right}zz`,
        'the right signature with a no-break space after it': `${right}\u00a0`,
        'the right signature with a digit before it': `0${right}`,
      },
    ],
    [
      'A13',
      forged,
      {
        '64 characters of which the first is not a hex digit': `g${right.slice(1)}`,
        '64 characters of which the last is not a hex digit': `${right.slice(0, 63)}g`,
        '64 characters without a hex digit': 'z'.repeat(64),
      },
    ],
    [
      'A14',
      forged,
      {
        '64 characters that include a Latin-1 letter': `${right.slice(0, 63)}é`,
        '64 bytes that include a UTF-8 character': onTheWire(`${right.slice(0, 62)}é`),
        'the right signature in full-width digits': onTheWire(fullWidth(right)),
        'the right signature with the high bit of each digit set': Array.from(right, (digit) =>
          String.fromCharCode(digit.charCodeAt(0) | 0x80),
        ).join(''),
      },
    ],
    [
      'A17',
      forged,
      {
        'a signature of zeros': zeros,
        'a signature of 64 f digits': 'f'.repeat(64),
        'the signature of an empty body': mac(''),
      },
    ],
    ['B13', forged, { 'a signature made with another secret': mac(body, UNKNOWN_SECRET) }],
    ['A18', partial, flips],
    [
      'A19',
      forged,
      {
        'an HMAC-SHA1 signature': mac(body, undefined, 'sha1'),
        'an HMAC-SHA512 signature': mac(body, undefined, 'sha512'),
        'an HMAC-SHA512 signature cut to 64 digits': mac(body, undefined, 'sha512').slice(0, 64),
        'a SHA-256 digest of the body as the signature': sha256(body),
        'a SHA-256 digest of secret and body as the signature': sha256(secret, body),
        'an HMAC signature with key and message swapped': mac(secret, body),
      },
    ],
  ];
}

/** Signs with secrets that misconfigured receivers use, except the receiver's own secret. */
function weakSecrets(material: Material): Attack[] {
  const own = Buffer.from(material.secret);
  const secrets: readonly (readonly [id: string, what: string, secret: string])[] = [
    ['A17', 'an empty secret', ''],
    ['B04', 'the secret "undefined"', 'undefined'],
    ['B04', 'the secret "null"', 'null'],
    ['B04', 'the secret "[object Object]"', '[object Object]'],
    ['B04', 'the secret "changeme"', 'changeme'],
    ['B04', 'the secret "secret"', 'secret'],
    ['B07', 'the public secret of @paylink/testing', TEST_SECRET],
  ];
  return secrets
    .filter(([, , secret]) => !own.equals(Buffer.from(secret)))
    .flatMap(([id, what, secret]) =>
      row(material, id, weak, [
        [`a signature made with ${what}`, { signature: material.mac(material.body, secret) }],
      ]),
    );
}

function moved(value: string, name: string): Difference {
  return { signature: null, headers: { [name]: value } };
}

function signatureInBody({ bodyWith, signature, names }: Material): Line {
  const body = bodyWith(`"signature":"${signature}","${names.signature}":"${signature}"`);
  return ['a signature in the body', { body, signature: null }];
}

function flipped(signature: string, bit: number): string {
  const bytes = Buffer.from(signature, 'hex');
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes.toString('hex');
}

/** Encodes a non-Latin-1 text as HTTP clients do: each UTF-8 byte becomes one header character. */
function onTheWire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function fullWidth(signature: string): string {
  return signature.replace(/./g, (digit) => String.fromCodePoint(digit.codePointAt(0)! + 0xfee0));
}

function alternateCase(letter: string, index: number): string {
  return index % 2 === 0 ? letter : letter.toUpperCase();
}
