/** Section C of the table of attacks: the body. */
import {
  ALSO_ACKNOWLEDGED,
  row,
  type Attack,
  type Line,
  type Material,
  type Verdict,
} from './attack.js';
import { verdicts } from './verdicts.js';

const { changed, decoded, reserialized, trimmed, unsigned, genuine, upToTheParser, invalid } =
  verdicts.body;
const { contradicted } = verdicts.body;

export function bodyAttacks(material: Material, confirm: boolean): Attack[] {
  return [
    ...changedBodies(material),
    ...genuineBodies(material),
    ...invalidBodies(material),
    ...contradictions(material, confirm),
  ];
}

function changedBodies(material: Material): Attack[] {
  const { body, bodyWith, signature, mac, reference } = material;
  const positions = Array.from({ length: 8 }, (_, index) =>
    Math.floor((index * (body.length - 1)) / 7),
  );
  const pretty = JSON.stringify({ reference }, null, 2);
  const replaced = bodyWith('"note":"\ufffd"');
  const withByte = Buffer.from(
    replaced.toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff'),
    'latin1',
  );
  return [
    ...row(
      material,
      'C01',
      changed,
      [...new Set(positions)].map((at, index): Line => [
        `the body with a bit of byte ${at} flipped`,
        { body: withFlip(body, at, index % 8), signature },
      ]),
    ),
    ...row(material, 'C01', changed, [
      [
        'another reference under a genuine signature',
        { body: JSON.stringify({ reference: `${reference}-2` }), signature },
      ],
      ['another amount under a genuine signature', amountChanged(material)],
      [
        'a body with byte 0xFF instead of the signed U+FFFD',
        { body: withByte, signature: mac(replaced) },
        decoded,
      ],
      [
        'a byte order mark added to a signed body',
        { body: `\ufeff${body.toString()}`, signature },
        decoded,
      ],
    ]),
    ...row(material, 'C02', reserialized, [
      ['a signed body that was pretty-printed in transit', { body: pretty, signature }],
      ['a pretty-printed body that was made compact in transit', { body, signature: mac(pretty) }],
      [
        'a body with spaces added after its colons',
        { body: `{"reference": ${JSON.stringify(reference)}}`, signature },
      ],
      [
        'a body with reordered keys',
        {
          body: `{"amount":1,"reference":${JSON.stringify(reference)}}`,
          signature: mac(bodyWith('"amount":1')),
        },
      ],
      [
        'a body with a character escaped after signing',
        { body: bodyWith('"note":"\\u0061"'), signature: mac(bodyWith('"note":"a"')) },
      ],
      [
        'a body with 1.0 changed to 1',
        { body: bodyWith('"amount":1'), signature: mac(bodyWith('"amount":1.0')) },
      ],
    ]),
    ...row(
      material,
      'C07',
      trimmed,
      (
        [
          ['a line feed after it', '', '\n'],
          ['CR LF after it', '', '\r\n'],
          ['a space after it', '', ' '],
          ['a space before it', ' ', ''],
          ['a NUL after it', '', '\0'],
        ] as const
      ).map(([what, before, after]): Line => [
        `a signed body with ${what}`,
        { body: before + body.toString() + after, signature },
      ]),
    ),
    ...row(material, 'C10', unsigned, [
      ['an empty body without a signature', { body: '', signature: null }],
    ]),
  ];
}

function amountChanged({ bodyWith, mac }: Material): {
  readonly body: Buffer;
  readonly signature: string;
} {
  return { body: bodyWith('"amount":1'), signature: mac(bodyWith('"amount":9')) };
}

function genuineBodies(material: Material): Attack[] {
  const { body, bodyWith, reference, bodyLimit } = material;
  const depth = Math.min(10_000, Math.floor((bodyLimit - body.length - 16) / 2));
  const accepted = (id: string, bodies: Bodies, verdict = genuine): Attack[] =>
    signedRow(material, id, verdict, bodies);
  return [
    ...accepted('C03', {
      'a pretty-printed body that is signed as such': JSON.stringify(
        { reference, amount: 1 },
        null,
        2,
      ),
      'a body with spaces after colons and commas': `{"reference": ${JSON.stringify(reference)}, "amount": 1}`,
      'escapes that a JSON parser rewrites': bodyWith('"note":"\\u0061\\/\\u00e9"'),
      'characters outside ASCII': bodyWith('"note":"Zoë, 支付, 🧾, \u2028"'),
      'characters of replacement patterns': bodyWith('"note":"$& $1 $$ %s %00 \\\\"'),
      'numeric keys, which JSON parsers reorder': bodyWith('"b":1,"10":2,"9":3'),
    }),
    ...accepted(
      'C03',
      { 'numbers that a JSON parser rewrites': bodyWith('"amount":10.0,"fee":1e2') },
      upToTheParser,
    ),
    ...accepted('C08', {
      'a signed line feed at the end': `${body.toString()}\n`,
      'a signed CR LF at the end': `${body.toString()}\r\n`,
      'signed spaces around the body': ` \t${body.toString()}  `,
    }),
    ...accepted(
      'C18',
      { 'a repeated key': bodyWith(`"reference":${JSON.stringify(reference)}`) },
      upToTheParser,
    ),
    ...accepted('C19', {
      'keys named like properties of Object.prototype': bodyWith(
        '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}',
      ),
    }),
    ...accepted(
      'C20',
      {
        [`a body of ${depth} nested arrays`]: bodyWith(
          `"nested":${'['.repeat(depth)}${']'.repeat(depth)}`,
        ),
      },
      {
        ...genuine,
        accepts: [...ALSO_ACKNOWLEDGED, 400, 413, 422],
        severity: 'medium',
      },
    ),
    ...accepted(
      'C21',
      {
        'numbers beyond the range of a double': bodyWith(
          '"a":1e400,"b":12345678901234567890,"c":-0',
        ),
      },
      upToTheParser,
    ),
    ...accepted('C23', { 'an amount in the body': bodyWith('"amount":1,"currency":"XOF"') }),
    ...accepted('C16', strangeReferences(reference), {
      ...genuine,
      // A merchant who looks up orders refuses these references.
      accepts: [...ALSO_ACKNOWLEDGED, 400, 404, 409, 410, 422, 503],
      severity: 'medium',
    }),
  ];
}

function strangeReferences(reference: string): Record<string, string> {
  const references = {
    'a reference of 10 kB': reference + 'x'.repeat(10_000),
    'a reference with quotes and SQL': `${reference}'; DROP TABLE orders; --`,
    'a reference with dot segments': `../../${reference}`,
    'a reference with URL characters': `${reference}/b?c#d%2e`,
    'a reference with a line break and control characters': `${reference}\r\n\t\u0001`,
    'a reference with an emoji': `${reference}-🧾`,
  };
  return Object.fromEntries(
    Object.entries(references).map(([what, strange]) => [
      what,
      JSON.stringify({ reference: strange }),
    ]),
  );
}

function invalidBodies(material: Material): Attack[] {
  const { body } = material;
  const refused = (id: string, bodies: Bodies): Attack[] =>
    signedRow(material, id, invalid, bodies);
  return [
    ...refused('C06', { 'a signed body with a byte order mark': `\ufeff${body.toString()}` }),
    ...refused('C09', { 'a signed empty body': '' }),
    ...refused('C11', {
      'a signed body that is not UTF-8': Buffer.concat([
        body.subarray(0, -2),
        Buffer.from([0xff, 0x22, 0x7d]),
      ]),
    }),
    ...refused('C12', {
      'a signed body in UTF-16': Buffer.from(`\ufeff${body.toString()}`, 'utf16le'),
    }),
    ...refused('C13', {
      'a signed body that is not JSON': 'not JSON at all',
      'a signed body that is cut off': body.subarray(0, -1),
      'a signed form body': 'reference=a&amount=1',
    }),
    ...refused('C14', {
      'a signed body that is null': 'null',
      'a signed body that is an array': '[]',
      'a signed body that is a string': '"x"',
      'a signed body that is a number': '1',
      'a signed body that is a boolean': 'true',
    }),
    ...refused('C15', {
      'a signed body without a reference': '{}',
      'a signed body with a reference that is null': '{"reference":null}',
      'a signed body with a reference that is a number': '{"reference":42}',
      'a signed body with a reference that is an object': '{"reference":{"id":"a"}}',
      'a signed body with a reference that is an array': '{"reference":["a"]}',
      'a signed body with an empty reference': '{"reference":""}',
      'a signed body with a blank reference': '{"reference":"  "}',
    }),
  ];
}

function contradictions(material: Material, confirm: boolean): Attack[] {
  if (confirm) return [];
  const saying = (status: string): Line => [
    `a success whose signed body says ${status}`,
    { body: material.bodyWith(`"status":"${status}"`) },
  ];
  return [
    ...row(material, 'C24', contradicted, ['failed', 'cancelled'].map(saying)),
    ...row(
      material,
      'C24',
      { ...contradicted, status: 503, code: 'payment_pending', accepts: [400, 409, 422, 425] },
      [saying('pending')],
    ),
  ];
}

type Bodies = Readonly<Record<string, string | Uint8Array>>;

/** Makes a row of deliveries that are signed as they are. */
function signedRow(material: Material, id: string, verdict: Verdict, bodies: Bodies): Attack[] {
  const lines = Object.entries(bodies).map(([what, body]): Line => [what, { body }]);
  return row(material, id, verdict, lines);
}

function withFlip(body: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(body);
  copy[at]! ^= 1 << bit;
  return copy;
}
