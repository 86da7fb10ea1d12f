/** Section D of the table of attacks: transport attacks that any HTTP client can send. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { row, type Difference, type Material, type Row, type Verdict } from './attack.js';
import { ACKNOWLEDGED, also, forged, genuine, tooLarge } from './verdicts.js';

const encoded: Verdict = {
  ...forged('inflates', 'high'),
  status: 415,
  code: 'unsupported_encoding',
  accepts: [400, 401, 403],
};
const encodedAndSigned: Verdict = {
  ...encoded,
  category: 'invalid',
  severity: 'low',
  fault: 'invalid_body',
};
const wrongLimit = { ...tooLarge, severity: 'medium', fault: 'wrong_limit' } as const;
const typeless = genuine('medium', 'content_type');

const under = (headers: NonNullable<Difference['headers']>): Difference => ({ headers });
const typed = (type: string | null): Difference => under({ 'content-type': type });

export const transportRows = (material: Material): Row[] => [
  ...sizes(material),
  ...encodings(material),
  row('D14', genuine('note', 'http_form'), {
    'a body under Content-Encoding: identity': under({ 'content-encoding': 'identity' }),
    'a body under Content-Encoding: Identity': under({ 'content-encoding': 'Identity' }),
  }),
  row('D19', genuine('medium'), {
    'a delivery with X-HTTP-Method-Override': under({
      'x-http-method-override': 'GET',
      'x-method-override': 'DELETE',
    }),
  }),
  row('D20', typeless, {
    'a delivery without a Content-Type': typed(null),
    'a delivery under Content-Type: text/plain': typed('text/plain'),
    'a delivery under Content-Type: application/octet-stream': typed('application/octet-stream'),
    'a delivery under Content-Type: application/x-www-form-urlencoded': typed(
      'application/x-www-form-urlencoded',
    ),
  }),
  // The service sends JSON (docs/service.md 6.4), never this type. Frameworks refuse the type
  // before the receiver runs.
  row('D20', genuine('medium', 'content_type', [400, 415]), {
    'a delivery under Content-Type: multipart/form-data': typed('multipart/form-data; boundary=x'),
  }),
  row('D20', typeless, {
    'a delivery under Content-Type: application/cloudevents+json': typed(
      'application/cloudevents+json',
    ),
    'a delivery under a malformed Content-Type': typed('application/json\tx'),
  }),
  row('D21', typeless, {
    'a delivery under a charset that does not match its bytes': typed(
      'application/json; charset=utf-16',
    ),
    'a delivery under an unknown charset': typed('application/json; charset=x'),
  }),
  row('D23', genuine('medium'), {
    'headers named like properties of Object.prototype': under(
      Object.fromEntries(['__proto__', 'constructor'].map((name) => [name, 'x'])),
    ),
  }),
  row('D27', genuine('medium'), {
    'proxy headers that name another host and protocol': under({
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'elsewhere.example',
      forwarded: 'for=192.0.2.1;proto=http',
    }),
  }),
];

function sizes({ bodyWith, bodyLimit }: Material): Row[] {
  const empty = bodyWith('"note":""').length;
  const ofLength = (length: number): Difference => ({
    body: bodyWith(`"note":"${'n'.repeat(Math.max(0, length - empty))}"`),
  });
  return [
    row('D05', genuine('medium', 'wrong_limit'), {
      'a body of exactly the limit': ofLength(bodyLimit),
    }),
    row('D05', wrongLimit, { 'a body of one byte over the limit': ofLength(bodyLimit + 1) }),
    row('D03', wrongLimit, { 'a body of twice the limit': ofLength(2 * bodyLimit) }),
  ];
}

function encodings({ body, signature, mac, bodyLimit }: Material): Row[] {
  const codings = {
    gzip: gzipSync(body),
    br: brotliCompressSync(body),
    deflate: deflateSync(body),
  };
  const inEach = (what: string, more: Difference): Row['deliveries'] =>
    Object.fromEntries(
      Object.entries(codings).map(([coding, bytes]) => [
        what.replace('{coding}', coding),
        { body: bytes, ...under({ 'content-encoding': coding }), ...more },
      ]),
    );
  const inflated = Buffer.concat([body, Buffer.alloc(10_000_000, ' ')]);
  const bomb = { body: gzipSync(inflated), ...under({ 'content-encoding': 'gzip' }) };
  const bombs = [
    row('D13', also(encoded, [413]), {
      'a gzip bomb under the signature of the inflated body': { ...bomb, signature: mac(inflated) },
    }),
    row('D13', also(encodedAndSigned, [413]), { 'a signed gzip bomb': bomb }),
  ];
  const deflated = inEach('a body in {coding} under the signature of the inflated body', {
    signature,
  });
  return [
    row('D12', encoded, deflated),
    row('D12', encodedAndSigned, inEach('a signed body in {coding}', {})),
    row('D12', also(encodedAndSigned, ACKNOWLEDGED), {
      'an unknown content encoding': under({ 'content-encoding': 'x-unknown' }),
    }),
    ...(bomb.body.length > bodyLimit ? [] : bombs),
  ];
}
