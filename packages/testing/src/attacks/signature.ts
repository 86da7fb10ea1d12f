/** Section A of the table of attacks, the signature header, and the weak secrets of section B. */
import { createHash } from 'node:crypto';
import { TEST_SECRET } from '../signed-delivery.js';
import {
  ALSO_ACKNOWLEDGED,
  row,
  UNKNOWN_SECRET,
  type Attack,
  type Difference,
  type Line,
  type Material,
  type Verdict,
} from './attack.js';

const FORGED = {
  category: 'forged',
  status: 401,
  code: 'invalid_signature',
  accepts: [400, 403],
} as const;

const missing: Verdict = {
  ...FORGED,
  severity: 'critical',
  fault: 'accepts_unsigned',
  advice:
    'Without a signature, the sender is unknown. Answer 401 before any other code runs, ' +
    'even if the header is absent.',
};
const forged: Verdict = {
  ...FORGED,
  severity: 'critical',
  fault: 'does_not_verify',
  advice:
    'Compute HMAC-SHA256 over the raw bytes of the body with the webhook secret. Compare ' +
    'all 32 bytes in constant time, and answer 401 unless they are equal.',
};
const partial: Verdict = {
  ...FORGED,
  severity: 'critical',
  fault: 'compares_part',
  advice:
    'The receiver compares only a part of the signature, so an attacker can guess that ' +
    'part. Refuse every header that is not exactly 64 characters of 0-9a-f, then compare ' +
    'all 32 bytes in constant time.',
};
const spelling: Verdict = {
  ...FORGED,
  severity: 'medium',
  fault: 'several_spellings',
  advice:
    'One signature must have one spelling: test the header with /^[0-9a-f]{64}$/ before ' +
    'you decode it, because hex decoders stop silently at the first other character. Do ' +
    'not lower-case, trim, unquote, split or strip the header.',
};
const repeated: Verdict = { ...spelling, severity: 'note' };
const elsewhere: Verdict = {
  ...FORGED,
  severity: 'medium',
  fault: 'reads_elsewhere',
  advice: 'Read the signature only from the X-Service-Signature header.',
};
const weak: Verdict = {
  ...FORGED,
  severity: 'critical',
  fault: 'public_secret',
  advice:
    'The receiver verifies with a public secret, probably because its own secret is not ' +
    'set. Refuse to start without a secret, and use the secret of the merchant portal.',
};

/** Rows that attack the spelling of this service's signatures. */
const SPELLING_ROWS: ReadonlySet<string> = new Set([
  'A03',
  'A04',
  'A06',
  'A08',
  'A09',
  'A11',
  'A12',
  'A13',
  'A14',
  'A18',
  'A19',
]);

export function signatureAttacks(material: Material): Attack[] {
  return allSignatureAttacks(material).filter(({ id }) => material.isHex || !SPELLING_ROWS.has(id));
}

function allSignatureAttacks(material: Material): Attack[] {
  const { signature: right, body, names } = material;
  const signed = (values: Readonly<Record<string, string>>): Line[] =>
    Object.entries(values).map(([what, signature]): Line => [what, { signature }]);
  const flips = Array.from({ length: material.isHex ? 32 : 0 }, (_, byte) => byte * 8 + (byte % 8));
  return [
    ...row(material, 'A01', missing, [
      ['a delivery without a signature', { signature: null }],
      ['a delivery without any header of the service', { signature: null, event: null }],
    ]),
    ...row(
      material,
      'A02',
      missing,
      signed({ 'an empty signature': '', 'a blank signature': '   ' }),
    ),
    ...row(
      material,
      'A03',
      repeated,
      signed({ 'a line that lists the right signature twice': `${right}, ${right}` }),
    ),
    ...row(
      material,
      'A04',
      repeated,
      signed({
        'a line that lists the right signature and a forged one': `${right},${'0'.repeat(64)}`,
        'a line that lists a forged signature and the right one': `${'0'.repeat(64)}, ${right}`,
      }),
    ),
    ...row(
      material,
      'A06',
      spelling,
      signed({
        'an upper-case signature': right.toUpperCase(),
        'a signature in mixed case': right.replace(/[a-f]/, (digit) => digit.toUpperCase()),
      }),
    ),
    ...row(
      material,
      'A08',
      spelling,
      signed({ 'a signature with a space inside': `${right.slice(0, 32)} ${right.slice(32)}` }),
    ),
    ...row(
      material,
      'A09',
      spelling,
      signed({
        'a signature with the prefix "sha256="': `sha256=${right}`,
        'a signature with the prefix "v1="': `v1=${right}`,
        'a signature with the prefix "0x"': `0x${right}`,
        'a quoted signature': `"${right}"`,
        'the signature in base64': Buffer.from(right, 'hex').toString('base64'),
        'the signature in base64url': Buffer.from(right, 'hex').toString('base64url'),
      }),
    ),
    ...row(
      material,
      'A11',
      partial,
      [1, 2, 8, 16, 32, 48, 62, 63].map((length): Line => [
        `the right signature cut to ${length} ${length === 1 ? 'character' : 'characters'}`,
        { signature: right.slice(0, length) },
      ]),
    ),
    ...row(
      material,
      'A12',
      spelling,
      signed({
        'the right signature with one more digit': `${right}0`,
        'the right signature with "00" after it': `${right}00`,
        'the right signature with "zz" after it': `${right}zz`,
        'the right signature with a no-break space after it': `${right}\u00a0`,
        'the right signature with a digit before it': `0${right}`,
      }),
    ),
    ...row(
      material,
      'A13',
      forged,
      signed({
        '64 characters of which the first is not a hex digit': `g${right.slice(1)}`,
        '64 characters of which the last is not a hex digit': `${right.slice(0, 63)}g`,
        '64 characters without a hex digit': 'z'.repeat(64),
      }),
    ),
    ...row(
      material,
      'A14',
      forged,
      signed({
        '64 characters that include a Latin-1 letter': `${right.slice(0, 63)}é`,
        '64 bytes that include a UTF-8 character': onTheWire(`${right.slice(0, 62)}é`),
        'the right signature in full-width digits': onTheWire(fullWidth(right)),
        'the right signature with the high bit of each digit set': Array.from(right, (digit) =>
          String.fromCharCode(digit.charCodeAt(0) | 0x80),
        ).join(''),
      }),
    ),
    ...row(
      material,
      'A17',
      forged,
      signed({
        'a signature of zeros': '0'.repeat(64),
        'a signature of 64 f digits': 'f'.repeat(64),
        'the signature of an empty body': material.mac(''),
      }),
    ),
    ...row(
      material,
      'B13',
      forged,
      signed({ 'a signature made with another secret': material.mac(body, UNKNOWN_SECRET) }),
    ),
    ...weakSecrets(material),
    ...row(
      material,
      'A18',
      partial,
      flips.map((bit): Line => [
        `the right signature with bit ${bit} flipped`,
        { signature: flipped(right, bit) },
      ]),
    ),
    ...row(
      material,
      'A19',
      forged,
      signed({
        'an HMAC-SHA1 signature': material.mac(body, undefined, 'sha1'),
        'an HMAC-SHA512 signature': material.mac(body, undefined, 'sha512'),
        'an HMAC-SHA512 signature cut to 64 digits': material
          .mac(body, undefined, 'sha512')
          .slice(0, 64),
        'a SHA-256 digest of the body as the signature': createHash('sha256')
          .update(body)
          .digest('hex'),
        'a SHA-256 digest of secret and body as the signature': createHash('sha256')
          .update(material.secret)
          .update(body)
          .digest('hex'),
        'an HMAC signature with key and message swapped': material.mac(material.secret, body),
      }),
    ),
    ...row(material, 'A21', elsewhere, [
      ['a signature under a header name with underscores', moved(right, 'X_Service_Signature')],
      ['a signature under a similar header name', moved(right, `${names.signature}-256`)],
      ['a signature in the Authorization header', moved(`Signature ${right}`, 'Authorization')],
    ]),
    ...row(
      material,
      'A21',
      {
        category: 'genuine',
        status: 200,
        accepts: ALSO_ACKNOWLEDGED,
        severity: 'high',
        fault: 'refuses_genuine',
        advice:
          'Header names are case-insensitive (RFC 9110 section 5.1): look them up in any case.',
      },
      [
        [
          'the right signature under a header name in another case',
          {
            signature: null,
            headers: { [names.signature.replace(/[a-z]/g, alternateCase)]: right },
          },
        ],
      ],
    ),
    ...row(material, 'A23', elsewhere, [signatureInBody(material)]),
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
