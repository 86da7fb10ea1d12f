/** Section D of the table of attacks: transport attacks that any HTTP client can send. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  ACKNOWLEDGED,
  ALSO_ACKNOWLEDGED,
  row,
  type Attack,
  type Line,
  type Material,
  type Verdict,
} from './attack.js';
import { verdicts } from './verdicts.js';

const { encoded, encodedAndSigned, genuine, tooLarge, typeless } = verdicts.transport;

export function transportAttacks(material: Material): Attack[] {
  return [
    ...sizes(material),
    ...encodings(material),
    ...row(
      material,
      'D14',
      { ...genuine, severity: 'note', fault: 'http_form' },
      ['identity', 'Identity'].map((coding): Line => [
        `a body under Content-Encoding: ${coding}`,
        { headers: { 'content-encoding': coding } },
      ]),
    ),
    ...row(material, 'D19', genuine, [
      [
        'a delivery with X-HTTP-Method-Override',
        { headers: { 'x-http-method-override': 'GET', 'x-method-override': 'DELETE' } },
      ],
    ]),
    ...contentTypes(material),
    ...row(material, 'D23', genuine, [
      [
        'headers named like properties of Object.prototype',
        {
          headers: Object.fromEntries([
            ['__proto__', 'x'],
            ['constructor', 'x'],
          ]),
        },
      ],
    ]),
    ...row(material, 'D27', genuine, [
      [
        'proxy headers that name another host and protocol',
        {
          headers: {
            'x-forwarded-proto': 'http',
            'x-forwarded-host': 'elsewhere.example',
            forwarded: 'for=192.0.2.1;proto=http',
          },
        },
      ],
    ]),
  ];
}

function sizes(material: Material): Attack[] {
  const { bodyLimit } = material;
  const atLimit = filled(material, bodyLimit);
  return [
    ...row(
      material,
      'D05',
      {
        ...genuine,
        fault: 'wrong_limit',
      },
      [['a body of exactly the limit', { body: atLimit }]],
    ),
    ...row(material, 'D05', tooLarge, [
      [
        'a body of one byte over the limit',
        { body: filled(material, bodyLimit + 1) },
        { severity: 'medium', fault: 'wrong_limit' },
      ],
    ]),
    ...row(material, 'D03', { ...tooLarge, severity: 'medium', fault: 'wrong_limit' }, [
      ['a body of twice the limit', { body: filled(material, 2 * bodyLimit) }],
    ]),
  ];
}

/** Returns a genuine body of `length` bytes. */
function filled({ bodyWith }: Material, length: number): Buffer {
  return bodyWith(`"note":"${'n'.repeat(Math.max(0, length - bodyWith('"note":""').length))}"`);
}

function encodings(material: Material): Attack[] {
  const { body, signature } = material;
  const codings = {
    gzip: gzipSync(body),
    br: brotliCompressSync(body),
    deflate: deflateSync(body),
  };
  const inflated = Buffer.concat([body, Buffer.alloc(10_000_000, ' ')]);
  const bomb = gzipSync(inflated);
  const asBomb = { body: bomb, headers: { 'content-encoding': 'gzip' } };
  return [
    ...row(
      material,
      'D12',
      encoded,
      Object.entries(codings).map(([coding, bytes]): Line => [
        `a body in ${coding} under the signature of the inflated body`,
        { body: bytes, signature, headers: { 'content-encoding': coding } },
      ]),
    ),
    ...row(
      material,
      'D12',
      encodedAndSigned,
      Object.entries(codings).map(([coding, bytes]): Line => [
        `a signed body in ${coding}`,
        { body: bytes, headers: { 'content-encoding': coding } },
      ]),
    ),
    ...row(
      material,
      'D12',
      { ...encodedAndSigned, accepts: [...encoded.accepts, ...ACKNOWLEDGED] },
      [['an unknown content encoding', { headers: { 'content-encoding': 'x-unknown' } }]],
    ),
    ...(bomb.length > material.bodyLimit
      ? []
      : row(material, 'D13', { ...encoded, accepts: [...encoded.accepts, 413] }, [
          [
            'a gzip bomb under the signature of the inflated body',
            { ...asBomb, signature: material.mac(inflated) },
          ],
          [
            'a signed gzip bomb',
            asBomb,
            { category: 'invalid', severity: 'low', fault: 'invalid_body' },
          ],
        ])),
  ];
}

function contentTypes(material: Material): Attack[] {
  const typed = (what: string, type: string | null, exception: Partial<Verdict> = {}): Line => [
    what,
    { headers: { 'content-type': type } },
    exception,
  ];
  // The service sends JSON (docs/service.md 6.4), never this type. Frameworks refuse the type
  // before the receiver runs.
  const mayBeRefused = { accepts: [...ALSO_ACKNOWLEDGED, 400, 415] };
  return [
    ...row(material, 'D20', typeless, [
      typed('a delivery without a Content-Type', null),
      typed('a delivery under Content-Type: text/plain', 'text/plain'),
      typed('a delivery under Content-Type: application/octet-stream', 'application/octet-stream'),
      typed(
        'a delivery under Content-Type: application/x-www-form-urlencoded',
        'application/x-www-form-urlencoded',
      ),
      typed(
        'a delivery under Content-Type: multipart/form-data',
        'multipart/form-data; boundary=x',
        mayBeRefused,
      ),
      typed(
        'a delivery under Content-Type: application/cloudevents+json',
        'application/cloudevents+json',
      ),
      typed('a delivery under a malformed Content-Type', 'application/json\tx'),
    ]),
    ...row(material, 'D21', typeless, [
      typed(
        'a delivery under a charset that does not match its bytes',
        'application/json; charset=utf-16',
      ),
      typed('a delivery under an unknown charset', 'application/json; charset=x'),
    ]),
  ];
}
