/** Section A of the table: the signature header; and the weak secrets of section B. */
import { createHash } from 'node:crypto';
import { TEST_SECRET } from '../signed-delivery.js';
import { row, type Attack, type Difference, type Line, type Material, type Verdict } from './attack.js';

const FORGED = { category: 'forged', status: 401, accepts: [400, 403] } as const;

const missing: Verdict = {
  ...FORGED,
  severity: 'critical',
  advice:
    'Without a signature nobody knows who sent this. Refuse with 401 before anything else runs; never treat "no header" as "nothing to check".',
};
const forged: Verdict = {
  ...FORGED,
  severity: 'critical',
  advice:
    'Compute HMAC-SHA256 over the raw bytes of the body with the webhook secret, and refuse with 401 unless all 32 bytes are equal, in constant time.',
};
const partial: Verdict = {
  ...FORGED,
  severity: 'critical',
  advice:
    'Only a part of the signature is compared, so the rest can be guessed. Refuse whatever is not exactly 64 characters of 0-9a-f, then compare all 32 bytes in constant time.',
};
const spelling: Verdict = {
  ...FORGED,
  severity: 'medium',
  advice:
    'One signature must have one spelling: test /^[0-9a-f]{64}$/ on the header before it is decoded. Neither lower-case, trim, unquote, split nor strip it: decoders of hex stop silently at the first character that is none.',
};
const elsewhere: Verdict = {
  ...FORGED,
  severity: 'high',
  advice: 'Read the signature from the X-Service-Signature header, and from nowhere else.',
};
const weak: Verdict = {
  ...FORGED,
  severity: 'critical',
  advice:
    'The receiver verifies with a secret that everybody knows: its own is most likely not set. Refuse to start without a secret, and take the one from the merchant portal.',
};

export function signatureAttacks(material: Material): Attack[] {
  const { signature: right, body, names } = material;
  const signed = (values: Readonly<Record<string, string>>): Line[] =>
    Object.entries(values).map(([sentence, signature]): Line => [sentence, { signature }]);
  const flips = Array.from({ length: 32 }, (_, byte) => byte * 8 + (byte % 8));
  return [
    ...row(material, 'A01', missing, [
      ['refuses a delivery without a signature', { signature: null }],
      ['refuses a delivery without any header of the service', { signature: null, event: null }],
    ]),
    ...row(material, 'A02', missing, signed({ 'refuses an empty signature': '', 'refuses a signature of blanks': '   ' })),
    ...row(material, 'A03', spelling, signed({ 'refuses a line that lists the right signature twice': `${right}, ${right}` })),
    ...row(
      material,
      'A04',
      spelling,
      signed({
        'refuses a line that lists the right signature and a forged one': `${right},${'0'.repeat(64)}`,
        'refuses a line that lists a forged signature and the right one': `${'0'.repeat(64)}, ${right}`,
      }),
    ),
    ...row(
      material,
      'A06',
      spelling,
      signed({
        'refuses an upper-case signature': right.toUpperCase(),
        'refuses a signature in mixed case': right.replace(/[a-f]/, (digit) => digit.toUpperCase()),
      }),
    ),
    ...row(
      material,
      'A08',
      spelling,
      signed({ 'refuses a blank inside the signature': `${right.slice(0, 32)} ${right.slice(32)}` }),
    ),
    ...row(
      material,
      'A09',
      spelling,
      signed({
        'refuses a signature with "sha256=" in front': `sha256=${right}`,
        'refuses a signature with "v1=" in front': `v1=${right}`,
        'refuses a signature with "0x" in front': `0x${right}`,
        'refuses a quoted signature': `"${right}"`,
        'refuses the signature in base64': Buffer.from(right, 'hex').toString('base64'),
        'refuses the signature in base64url': Buffer.from(right, 'hex').toString('base64url'),
      }),
    ),
    ...row(
      material,
      'A11',
      partial,
      [1, 2, 8, 16, 32, 48, 62, 63].map((length): Line => [
        `refuses the right signature cut to ${length} ${length === 1 ? 'character' : 'characters'}`,
        { signature: right.slice(0, length) },
      ]),
    ),
    ...row(
      material,
      'A12',
      spelling,
      signed({
        'refuses the right signature with one more digit': `${right}0`,
        'refuses the right signature with "00" behind it': `${right}00`,
        'refuses the right signature with "zz" behind it': `${right}zz`,
        'refuses the right signature with a no-break space behind it': `${right}\u00a0`,
        'refuses the right signature with a digit in front': `0${right}`,
      }),
    ),
    ...row(
      material,
      'A13',
      forged,
      signed({
        'refuses 64 characters of which the first is no hex digit': `g${right.slice(1)}`,
        'refuses 64 characters of which the last is no hex digit': `${right.slice(0, 63)}g`,
        'refuses 64 characters of which none is a hex digit': 'z'.repeat(64),
      }),
    ),
    ...row(
      material,
      'A14',
      forged,
      signed({
        'refuses 64 characters with a Latin-1 one among them': `${right.slice(0, 63)}é`,
        'refuses 64 bytes with a UTF-8 character among them': onTheWire(`${right.slice(0, 62)}é`),
        'refuses the right digits in full width': onTheWire(fullWidth(right)),
        'refuses the right digits with their high bit set': Array.from(right, (digit) =>
          String.fromCharCode(digit.charCodeAt(0) | 0x80),
        ).join(''),
      }),
    ),
    ...row(
      material,
      'A17',
      forged,
      signed({
        'refuses a signature of zeros': '0'.repeat(64),
        'refuses a signature of fs': 'f'.repeat(64),
        'refuses the signature of an empty body': material.mac(''),
      }),
    ),
    ...weakSecrets(material),
    ...row(
      material,
      'A18',
      partial,
      flips.map((bit): Line => [`refuses the right signature with bit ${bit} flipped`, { signature: flipped(right, bit) }]),
    ),
    ...row(
      material,
      'A19',
      forged,
      signed({
        'refuses HMAC-SHA1': material.mac(body, undefined, 'sha1'),
        'refuses HMAC-SHA512': material.mac(body, undefined, 'sha512'),
        'refuses HMAC-SHA512 cut to 64 digits': material.mac(body, undefined, 'sha512').slice(0, 64),
        'refuses SHA-256 of the body': createHash('sha256').update(body).digest('hex'),
        'refuses SHA-256 of secret and body': createHash('sha256').update(material.secret).update(body).digest('hex'),
        'refuses an HMAC with key and message swapped': material.mac(material.secret, body),
      }),
    ),
    ...row(material, 'A21', elsewhere, [
      ['refuses a signature under a name with underscores', moved(right, 'X_Service_Signature')],
      ['refuses a signature under a name that is only like the right one', moved(right, `${names.signature}-256`)],
      ['refuses a signature in the Authorization header', moved(`Signature ${right}`, 'Authorization')],
    ]),
    ...row(
      material,
      'A21',
      {
        category: 'genuine',
        status: 200,
        accepts: [204],
        severity: 'high',
        advice: 'Names of headers have no case (RFC 9110 section 5.1): look them up in whatever case they come.',
      },
      [
        [
          'accepts the header’s name in another case',
          { signature: null, headers: { [names.signature.replace(/[a-z]/g, alternateCase)]: right } },
        ],
      ],
    ),
    ...row(material, 'A23', elsewhere, [bodyThatHoldsItsSignature(material)]),
  ];
}

/** Secrets that a receiver without one falls back to. A receiver whose own it is has another fault, which the kit cannot see. */
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
      row(material, id, weak, [[`refuses a signature made with ${what}`, { signature: material.mac(material.body, secret) }]]),
    );
}

function moved(value: string, name: string): Difference {
  return { signature: null, headers: { [name]: value } };
}

function bodyThatHoldsItsSignature({ bodyWith, signature, names }: Material): Line {
  const body = bodyWith(`"signature":"${signature}","${names.signature}":"${signature}"`);
  return ['refuses a signature that stands in the body', { body, signature: null }];
}

function flipped(signature: string, bit: number): string {
  const bytes = Buffer.from(signature, 'hex');
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes.toString('hex');
}

/** As a client sends a text that is not Latin-1: each byte of its UTF-8 is a character of the header. */
function onTheWire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function fullWidth(signature: string): string {
  return signature.replace(/./g, (digit) => String.fromCodePoint(digit.codePointAt(0)! + 0xfee0));
}

function alternateCase(letter: string, index: number): string {
  return index % 2 === 0 ? letter : letter.toUpperCase();
}
