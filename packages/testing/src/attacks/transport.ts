/** Section D of the table, as far as any HTTP client can send it. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { row, type Attack, type Line, type Material, type Verdict } from './attack.js';

const encoded: Verdict = {
  category: 'forged',
  status: 415,
  accepts: [400, 401, 403],
  severity: 'high',
  advice:
    'The signature is over the bytes on the wire. Refuse every Content-Encoding but identity with 415, before the body is read: what inflates first verifies other bytes, and lets a stranger fill the memory.',
};
const encodedAndSigned: Verdict = { ...encoded, category: 'invalid', severity: 'medium' };
const genuine: Verdict = {
  category: 'genuine',
  status: 200,
  accepts: [204],
  severity: 'medium',
  advice:
    'The contract names no Content-Type and none of these headers, so none may decide: take the body as raw bytes whatever they say, and leave parsers off this route.',
};
const tooLarge: Verdict = {
  category: 'invalid',
  status: 413,
  accepts: [400, 401, 403],
  severity: 'medium',
  advice: 'Read no more than a limit (64 kB is plenty for a notification), and answer 413 as soon as it is passed.',
};

export function transportAttacks(material: Material): Attack[] {
  return [
    ...sizes(material),
    ...encodings(material),
    ...row(
      material,
      'D14',
      genuine,
      ['identity', 'Identity'].map((coding): Line => [
        `accepts Content-Encoding: ${coding}`,
        { headers: { 'content-encoding': coding } },
      ]),
    ),
    ...row(material, 'D19', genuine, [
      [
        'is not led astray by X-HTTP-Method-Override',
        { headers: { 'x-http-method-override': 'GET', 'x-method-override': 'DELETE' } },
      ],
    ]),
    ...contentTypes(material),
    ...row(material, 'D23', genuine, [
      [
        'survives header names of the prototype',
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
        'needs nothing that a proxy says of host and protocol',
        {
          headers: { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'elsewhere.example', forwarded: 'for=192.0.2.1;proto=http' },
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
      { ...genuine, advice: `A body of ${bodyLimit} bytes is within the limit that was named here: \`bodyLimit\`.` },
      [['accepts a body of exactly the limit', { body: atLimit }]],
    ),
    ...row(material, 'D05', tooLarge, [['refuses a body of one byte over the limit', { body: filled(material, bodyLimit + 1) }]]),
    ...row(material, 'D03', tooLarge, [['refuses a body of twice the limit', { body: filled(material, 2 * bodyLimit) }]]),
  ];
}

/** A genuine body of that many bytes. */
function filled({ bodyWith }: Material, length: number): Buffer {
  return bodyWith(`"note":"${'n'.repeat(Math.max(0, length - bodyWith('"note":""').length))}"`);
}

function encodings(material: Material): Attack[] {
  const { body, signature } = material;
  const codings = { gzip: gzipSync(body), br: brotliCompressSync(body), deflate: deflateSync(body) };
  const inflated = Buffer.concat([body, Buffer.alloc(10_000_000, ' ')]);
  const bomb = gzipSync(inflated);
  const asBomb = { body: bomb, headers: { 'content-encoding': 'gzip' } };
  return [
    ...row(
      material,
      'D12',
      encoded,
      Object.entries(codings).map(([coding, bytes]): Line => [
        `refuses a body in ${coding} under the signature of what it inflates to`,
        { body: bytes, signature, headers: { 'content-encoding': coding } },
      ]),
    ),
    ...row(
      material,
      'D12',
      encodedAndSigned,
      Object.entries(codings).map(([coding, bytes]): Line => [
        `refuses a body in ${coding} that is signed as it is`,
        { body: bytes, headers: { 'content-encoding': coding } },
      ]),
    ),
    ...row(material, 'D12', { ...encodedAndSigned, accepts: [...encoded.accepts, 200, 204], severity: 'low' }, [
      ['refuses a content encoding that nobody knows', { headers: { 'content-encoding': 'x-unknown' } }],
    ]),
    ...(bomb.length > material.bodyLimit
      ? []
      : row(material, 'D13', { ...encoded, accepts: [...encoded.accepts, 413] }, [
          ['refuses a bomb of gzip under the signature of what it inflates to', { ...asBomb, signature: material.mac(inflated) }],
          ['refuses a bomb of gzip that is signed as it is', asBomb, { category: 'invalid', severity: 'medium' }],
        ])),
  ];
}

function contentTypes(material: Material): Attack[] {
  const typed = (sentence: string, type: string | null): Line => [sentence, { headers: { 'content-type': type } }];
  return [
    ...row(material, 'D20', genuine, [
      typed('accepts a delivery without a Content-Type', null),
      typed('accepts Content-Type: text/plain', 'text/plain'),
      typed('accepts Content-Type: application/octet-stream', 'application/octet-stream'),
      typed('accepts Content-Type: application/x-www-form-urlencoded', 'application/x-www-form-urlencoded'),
      typed('accepts Content-Type: multipart/form-data', 'multipart/form-data; boundary=x'),
      typed('accepts Content-Type: application/cloudevents+json', 'application/cloudevents+json'),
      typed('accepts a Content-Type that is none', 'application/json\tx'),
    ]),
    ...row(material, 'D21', genuine, [
      typed('accepts a charset that the bytes are not in', 'application/json; charset=utf-16'),
      typed('accepts a charset that nobody knows', 'application/json; charset=x'),
    ]),
  ];
}
