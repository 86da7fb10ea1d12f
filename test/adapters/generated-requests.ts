/** Valid requests, or damaged in header, body or framing, for the differential tests. */
import fc from 'fast-check';
import { BODY, bodyOf, head, mac, PATH } from './deliveries.js';
import { chunked, type HeaderLines } from './wire.js';

/** The `bodyLimit` of the requests. Some exceed it by a byte. */
export const LIMIT = 2_048;

const text = (value: string): Buffer => Buffer.from(value);
const bodies = fc.oneof(
  { weight: 4, arbitrary: fc.constant(BODY) },
  fc.json().map(text),
  fc
    .record({
      reference: fc.string({ unit: 'grapheme' }),
      status: fc.constantFrom('success', 'failed', 'cancelled', 'pending', 1),
    })
    .map((value) => text(JSON.stringify(value))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '',
      ' ',
      'null',
      '[]',
      '{}',
      '\ufeff{"reference":"a"}',
      '{"reference":"a"}\n',
      '{"reference":"a","__proto__":{"b":1}}',
    )
    .map(text),
  {
    weight: 2,
    arbitrary: fc.constantFrom(LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT).map(bodyOf),
  },
);

/** Signature headers, mostly right. */
const signatures = fc.oneof(
  { weight: 6, arbitrary: fc.constant((right: string): readonly string[] => [right]) },
  fc.constant(() => []),
  fc.constant((right: string) => [right, right]),
  fc.constant((right: string) => [right.toUpperCase()]),
  fc.constant((right: string) => [`sha256=${right}`]),
  fc.constant((right: string) => [` ${right}\t`]),
  fc.nat(63).map((length) => (right: string) => [right.slice(0, length)]),
  fc
    .nat(63)
    .map((at) => (right: string) => [
      right.slice(0, at) + (right[at] === '0' ? '1' : '0') + right.slice(at + 1),
    ]),
  fc.constant(() => [mac('another body')]),
  fc.stringMatching(/^[\x21-\x7e]{1,80}$/).map((value) => () => [value]),
);
const kinds = fc.oneof(
  { weight: 6, arbitrary: fc.constant(['payment.succeeded']) },
  fc.constantFrom<string[]>(
    [],
    [''],
    ['payment.refunded'],
    ['Payment.Succeeded'],
    ['payment.succeeded', 'payment.succeeded'],
    ['__proto__'],
    ['a'.repeat(129)],
  ),
);
const more = fc.constantFrom<HeaderLines>(
  ...([
    [],
    [],
    [],
    [['Content-Encoding', 'identity']],
    [['Content-Encoding', 'gzip']],
    [['Content-Encoding', 'br, identity']],
  ] as HeaderLines[]),
  [['X-HTTP-Method-Override', 'GET']],
  [['Expect', '100-nothing']],
  [['__proto__', 'x']],
  [['X_Service_Signature', mac(BODY)]],
);
const types = fc.constantFrom(
  'application/json',
  'application/json',
  null,
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json\tx',
  'application/json; charset=utf-16',
  ';',
);
const framing = fc.constantFrom(
  'length',
  'length',
  'chunked',
  'small chunks',
  'two pieces',
  'one more than it is',
  'one less than it is',
);

export const requests = fc.record({
  body: bodies,
  signature: signatures,
  event: kinds,
  lines: more,
  contentType: types,
  framing,
});
export type GeneratedRequest = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the pieces to send. A body shorter than declared ends with the connection. */
export function piecesOf(
  { body, signature, event, lines, contentType, framing }: GeneratedRequest,
  path = PATH,
): Buffer[] {
  const message = { path, signature: signature(mac(body)), event, lines, contentType };
  switch (framing) {
    case 'chunked':
      return [head(body, { ...message, framing: 'chunked' }), chunked(body)];
    case 'small chunks':
      return [Buffer.concat([head(body, { ...message, framing: 'chunked' }), chunked(body, 7)])];
    case 'two pieces':
      return [head(body, message), body];
    case 'one more than it is':
      return [
        Buffer.concat([head(body, { ...message, framing: Math.max(0, body.length - 1) }), body]),
      ];
    case 'one less than it is':
      // Sends the missing byte after all, which makes another body than the signed one.
      return [
        Buffer.concat([
          head(body, { ...message, framing: body.length + 1 }),
          body,
          Buffer.from(' '),
        ]),
      ];
    default:
      return [Buffer.concat([head(body, message), body])];
  }
}
