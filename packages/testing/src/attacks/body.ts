/** Section C of the table of attacks: the body. */
import { row, rowsOf, withFlip, type Difference, type Material, type Row } from './attack.js';
import { forged, genuine, invalidBody } from './verdicts.js';

const changed = forged('verifies_other_bytes');
const decoded = forged('decodes_text', 'high');
const reserialized = forged('reserializes', 'high');
const upToTheParser = genuine('high', 'refuses_genuine', [400, 422]);
const contradicted = {
  ...invalidBody,
  code: 'event_contradicted',
  accepts: [409, 422],
  severity: 'medium',
  fault: 'contradiction',
} as const;

/** Bodies that are signed as they are. */
const bodies = rowsOf('body');

export const bodyRows = (material: Material, confirm: boolean): Row[] => [
  ...changedBodies(material),
  ...genuineBodies(material),
  ...invalidBodies(material),
  ...(confirm ? [] : contradictions(material)),
];

function changedBodies({ body, bodyWith, signature, mac, reference }: Material): Row[] {
  const quoted = JSON.stringify(reference);
  const positions = Array.from({ length: 8 }, (_, index) =>
    Math.floor((index * (body.length - 1)) / 7),
  );
  const flips = [...new Set(positions)].map((at, index): [string, Difference] => [
    `the body with a bit of byte ${at} flipped`,
    { body: withFlip(body, at * 8 + (index % 8)), signature },
  ]);
  const pretty = JSON.stringify({ reference }, null, 2);
  const replaced = bodyWith('"note":"\ufffd"');
  const withByte = replaced.toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff');
  const around = (before: string, after: string): Difference => ({
    body: before + body.toString() + after,
    signature,
  });
  const signedAs = (sent: string, original: string): Difference => ({
    body: bodyWith(sent),
    signature: mac(bodyWith(original)),
  });
  return [
    row('C01', changed, {
      ...Object.fromEntries(flips),
      'another reference under a genuine signature': {
        body: JSON.stringify({ reference: `${reference}-2` }),
        signature,
      },
      'another amount under a genuine signature': signedAs('"amount":1', '"amount":9'),
    }),
    row('C01', decoded, {
      'a body with byte 0xFF instead of the signed U+FFFD': {
        body: Buffer.from(withByte, 'latin1'),
        signature: mac(replaced),
      },
      'a byte order mark added to a signed body': around('\ufeff', ''),
    }),
    row('C02', reserialized, {
      'a signed body that was pretty-printed in transit': { body: pretty, signature },
      'a pretty-printed body that was made compact in transit': { signature: mac(pretty) },
      'a body with spaces added after its colons': { body: `{"reference": ${quoted}}`, signature },
      'a body with reordered keys': {
        body: `{"amount":1,"reference":${quoted}}`,
        signature: mac(bodyWith('"amount":1')),
      },
      'a body with a character escaped after signing': signedAs('"note":"\\u0061"', '"note":"a"'),
      'a body with 1.0 changed to 1': signedAs('"amount":1', '"amount":1.0'),
    }),
    row('C07', forged('trims', 'high'), {
      'a signed body with a line feed after it': around('', '\n'),
      'a signed body with CR LF after it': around('', '\r\n'),
      'a signed body with a space after it': around('', ' '),
      'a signed body with a space before it': around(' ', ''),
      'a signed body with a NUL after it': around('', '\0'),
    }),
    row('C10', forged('accepts_unsigned'), {
      'an empty body without a signature': { body: '', signature: null },
    }),
  ];
}

function genuineBodies({ body, bodyWith, reference, bodyLimit }: Material): Row[] {
  const quoted = JSON.stringify(reference);
  const depth = Math.min(10_000, Math.floor((bodyLimit - body.length - 16) / 2));
  const referring = (strange: string): string => JSON.stringify({ reference: strange });
  return [
    bodies('C03', genuine(), {
      'a pretty-printed body that is signed as such': JSON.stringify(
        { reference, amount: 1 },
        null,
        2,
      ),
      'a body with spaces after colons and commas': `{"reference": ${quoted}, "amount": 1}`,
      'escapes that a JSON parser rewrites': bodyWith('"note":"\\u0061\\/\\u00e9"'),
      'characters outside ASCII': bodyWith('"note":"Zoë, 支付, 🧾, \u2028"'),
      'characters of replacement patterns': bodyWith('"note":"$& $1 $$ %s %00 \\\\"'),
      'numeric keys, which JSON parsers reorder': bodyWith('"b":1,"10":2,"9":3'),
    }),
    bodies('C03', upToTheParser, {
      'numbers that a JSON parser rewrites': bodyWith('"amount":10.0,"fee":1e2'),
    }),
    bodies('C08', genuine(), {
      'a signed line feed at the end': `${body.toString()}\n`,
      'a signed CR LF at the end': `${body.toString()}\r\n`,
      'signed spaces around the body': ` \t${body.toString()}  `,
    }),
    bodies('C18', upToTheParser, { 'a repeated key': bodyWith(`"reference":${quoted}`) }),
    bodies('C19', genuine(), {
      'keys named like properties of Object.prototype': bodyWith(
        '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}',
      ),
    }),
    bodies('C20', genuine('medium', 'refuses_genuine', [400, 413, 422]), {
      [`a body of ${depth} nested arrays`]: bodyWith(
        `"nested":${'['.repeat(depth)}${']'.repeat(depth)}`,
      ),
    }),
    bodies('C21', upToTheParser, {
      'numbers beyond the range of a double': bodyWith('"a":1e400,"b":12345678901234567890,"c":-0'),
    }),
    bodies('C23', genuine(), { 'an amount in the body': bodyWith('"amount":1,"currency":"XOF"') }),
    // A merchant who looks up orders refuses these references.
    bodies('C16', genuine('medium', 'refuses_genuine', [400, 404, 409, 410, 422, 503]), {
      'a reference of 10 kB': referring(reference + 'x'.repeat(10_000)),
      'a reference with quotes and SQL': referring(`${reference}'; DROP TABLE orders; --`),
      'a reference with dot segments': referring(`../../${reference}`),
      'a reference with URL characters': referring(`${reference}/b?c#d%2e`),
      'a reference with a line break and control characters': referring(`${reference}\r\n\t\u0001`),
      'a reference with an emoji': referring(`${reference}-🧾`),
    }),
  ];
}

function invalidBodies({ body }: Material): Row[] {
  const withBom = `\ufeff${body.toString()}`;
  const notUtf8 = Buffer.concat([body.subarray(0, -2), Buffer.from([0xff, 0x22, 0x7d])]);
  return [
    bodies('C06', invalidBody, { 'a signed body with a byte order mark': withBom }),
    bodies('C09', invalidBody, { 'a signed empty body': '' }),
    bodies('C11', invalidBody, { 'a signed body that is not UTF-8': notUtf8 }),
    bodies('C12', invalidBody, { 'a signed body in UTF-16': Buffer.from(withBom, 'utf16le') }),
    bodies('C13', invalidBody, {
      'a signed body that is not JSON': 'not JSON at all',
      'a signed body that is cut off': body.subarray(0, -1),
      'a signed form body': 'reference=a&amount=1',
    }),
    bodies('C14', invalidBody, {
      'a signed body that is null': 'null',
      'a signed body that is an array': '[]',
      'a signed body that is a string': '"x"',
      'a signed body that is a number': '1',
      'a signed body that is a boolean': 'true',
    }),
    bodies('C15', invalidBody, {
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

function contradictions({ bodyWith }: Material): Row[] {
  const pending = { status: 503, code: 'payment_pending', accepts: [400, 409, 422, 425] };
  return ['failed', 'cancelled', 'pending'].map((status) =>
    bodies(
      'C24',
      { ...contradicted, ...(status === 'pending' ? pending : {}) },
      {
        [`a success whose signed body says ${status}`]: bodyWith(`"status":"${status}"`),
      },
    ),
  );
}
