/**
 * The same bytes to every host: status and body must agree. `PAYLINK_DIFFERENTIAL=10000` for the long run, and
 * `PAYLINK_SEED=…` to send again what failed.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BODY, bodyOf, chunked, head, mac, type HeaderLines } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { FASTIFY_REFUSAL, serve } from './serving.js';
import { exchange } from './wire.js';

const LIMIT = 2_048;
const runs = Number(process.env['PAYLINK_DIFFERENTIAL'] ?? 400);
const seed = Number(process.env['PAYLINK_SEED'] ?? randomInt(2 ** 31));

const text = (value: string): Buffer => Buffer.from(value);
const bodies = fc.oneof(
  { weight: 4, arbitrary: fc.constant(BODY) },
  fc.json().map(text),
  fc
    .record({ reference: fc.string({ unit: 'grapheme' }), status: fc.constantFrom('success', 'failed', 'cancelled', 'pending', 1) })
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
  fc.constantFrom(LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT).map(bodyOf),
);

/** What stands in the signature header: mostly the right thing. */
const signatures = fc.oneof(
  { weight: 6, arbitrary: fc.constant((right: string): readonly string[] => [right]) },
  fc.constant(() => []),
  fc.constant((right: string) => [right, right]),
  fc.constant((right: string) => [right.toUpperCase()]),
  fc.constant((right: string) => [`sha256=${right}`]),
  fc.constant((right: string) => [` ${right}\t`]),
  fc.nat(63).map((length) => (right: string) => [right.slice(0, length)]),
  fc.nat(63).map((at) => (right: string) => [right.slice(0, at) + (right[at] === '0' ? '1' : '0') + right.slice(at + 1)]),
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

const requests = fc.record({ body: bodies, signature: signatures, event: kinds, lines: more, contentType: types, framing });
type Request = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

/** The pieces to send. A body that is shorter than declared ends with the connection. */
function piecesOf({ body, signature, event, lines, contentType, framing }: Request): Buffer[] {
  const message = { signature: signature(mac(body)), event, lines, contentType };
  switch (framing) {
    case 'chunked':
      return [head(body, { ...message, framing: 'chunked' }), chunked(body)];
    case 'small chunks':
      return [Buffer.concat([head(body, { ...message, framing: 'chunked' }), chunked(body, 7)])];
    case 'two pieces':
      return [head(body, message), body];
    case 'one more than it is':
      return [Buffer.concat([head(body, { ...message, framing: Math.max(0, body.length - 1) }), body])];
    case 'one less than it is':
      // The byte that is missing comes after all: another body than the one that was signed.
      return [Buffer.concat([head(body, { ...message, framing: body.length + 1 }), body, Buffer.from(' ')])];
    default:
      return [Buffer.concat([head(body, message), body])];
  }
}

it(`every host gives the same status and body to ${runs} requests (seed ${seed})`, async () => {
  const servers = await Promise.all(hosts.map((host) => serve(host, { options: { bodyLimit: LIMIT } })));
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const pieces = piecesOf(request);
      const replies = await Promise.all(
        servers.map(async ({ host, port }) => {
          const { status, body, wire } = await exchange(port, ...pieces);
          wire.reset();
          // Fastify words the refusals of Node's HTTP parser itself.
          return { host: host.name, status, body: body.replace(FASTIFY_REFUSAL, '') };
        }),
      );
      const [first] = replies;
      seen.set(first!.status, (seen.get(first!.status) ?? 0) + 1);
      for (const reply of replies) expect(reply).toEqual({ ...first, host: reply.host });
    }),
    { numRuns: runs, seed },
  );
  // Or the requests were not as varied as they were meant to be.
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 413, 415]));
}, 1_800_000);
