import { verifySignature } from '@paylink/core';
import { describe, expect, it } from 'vitest';
import { BODY, bodyOf, mac, post, REFERENCE, SECRET } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { expectAcknowledged, expectRefused, references, serve } from './serving.js';
import { exchange } from './wire.js';
import { mustStaySecret } from './secrets.js';
import { log } from './watch.js';

type Body = string | Buffer;

const VALID = mac(BODY);
const text = BODY.toString();
const withBom = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), BODY]);

/** Flips one bit of one byte. */
function flipped(body: Uint8Array, bit: number): Buffer {
  const bytes = Buffer.from(body);
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes;
}

/** Returns the JSON around `reference`, with bytes that JSON.stringify cannot write. */
function around(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from('{"reference":"'), bytes, Buffer.from('"}')]);
}

function utf32(value: string): Buffer {
  return Buffer.from(
    new Uint32Array(Array.from(value, (character) => character.codePointAt(0)!)).buffer,
  );
}

const nested = (depth: number, inside = ''): string =>
  `{"reference":"${REFERENCE}","deep":${'['.repeat(depth)}${inside}${']'.repeat(depth)}}`;

/** Bodies that changed after they were signed. The signed body comes first. */
const changed: readonly (readonly [title: string, signed: Body, sent: Body])[] = [
  [
    'C02 rejects a body that was re-serialised with other spacing',
    '{ "reference": "a" }',
    '{"reference":"a"}',
  ],
  [
    'C02 rejects a body whose keys changed their order',
    '{"reference":"a","b":1}',
    '{"b":1,"reference":"a"}',
  ],
  [
    'C02 rejects a body in which 1.0 became 1',
    '{"reference":"a","b":1.0}',
    '{"reference":"a","b":1}',
  ],
  [
    'C02 rejects a body whose escapes were resolved',
    '{"reference":"a\\/b\\u00e9"}',
    '{"reference":"a/bé"}',
  ],
  ['C07 rejects a line break added at the end', text, `${text}\n`],
  ['C07 rejects CRLF, a blank and a NUL added at the end', text, `${text}\r\n \0`],
  ['C07 rejects a body without its final line break', `${text}\n`, text],
  ['C06 rejects a byte order mark added in front', text, withBom],
  ['C06 rejects a body without its byte order mark', withBom, text],
  [
    'C11 rejects a replacement character instead of a byte that is not UTF-8',
    around(Buffer.from([0xff])),
    around(Buffer.from('\ufffd')),
  ],
  [
    'C11 rejects a byte that is not UTF-8 instead of a replacement character',
    around(Buffer.from('\ufffd')),
    around(Buffer.from([0xff])),
  ],
  [
    'C02 F18 rejects a body with another Unicode normalisation',
    '{"reference":"é"}',
    '{"reference":"e\u0301"}',
  ],
  [
    'C02 F18 rejects a body with another charset',
    '{"reference":"é"}',
    Buffer.from('{"reference":"é"}', 'latin1'),
  ],
  ['C01 rejects a truncated body', text, text.slice(0, -1)],
  ['C01 rejects the body of another order', text, '{"reference":"order-43"}'],
];

const invalid: readonly (readonly [title: string, ...bodies: Body[]])[] = [
  ['C06 refuses a signed byte order mark', withBom],
  ['C09 refuses a signed empty body', ''],
  [
    'C11 refuses signed bytes that are not UTF-8',
    around(Buffer.from([0xff])),
    around(Buffer.from([0xc0, 0xaf])),
    around(Buffer.from([0xe2, 0x82])),
    around(Buffer.from([0xed, 0xa0, 0x80])),
    Buffer.concat([BODY, Buffer.from([0x80])]),
  ],
  [
    'C12 refuses signed UTF-16 and UTF-32',
    Buffer.from(text, 'utf16le'),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    utf32(text),
  ],
  [
    'C13 refuses signed text that is not JSON',
    'reference=order-42',
    'top-secret-of-the-body',
    `${text}${text}`,
    `${text},`,
    "{'reference':'a'}",
    '{"reference":"a"',
    '{"reference":"a",}',
    '<a/>',
    ' ',
    '\0',
  ],
  [
    'C14 refuses signed JSON that is not an object',
    'null',
    '[]',
    '"x"',
    '1',
    'true',
    '[{"reference":"a"}]',
    '"{\\"reference\\":\\"a\\"}"',
  ],
  [
    'C15 refuses a reference that is blank or not a string',
    '{}',
    '{"Reference":"a"}',
    '{"data":{"reference":"a"}}',
    ...[
      'null',
      '42',
      '{}',
      '["a"]',
      'true',
      '""',
      '"   "',
      '"\\t\\n"',
      '"\u00a0\u2003"',
      '"a\\u0000"',
      '"\\ud800"',
      '"a\\udc00b"',
    ].map((value) => `{"reference":${value}}`),
    '{"__proto__":{"reference":"a"}}',
  ],
];

const handedOn: readonly (readonly [title: string, body: Body, reference: string])[] = [
  ['C03 accepts a signed pretty-printed body', `{\n  "reference": "a"\n}`, 'a'],
  ['C08 accepts a signed line break at the end', `${text}\n`, REFERENCE],
  ['C08 accepts signed whitespace around the body', ` \r\n\t${text} \r\n`, REFERENCE],
  [
    'C16 passes on a reference of 10 kB',
    `{"reference":"${'r'.repeat(10_240)}"}`,
    'r'.repeat(10_240),
  ],
  [
    'C16 passes on control characters in a reference',
    '{"reference":"\\u0001\\r\\n\\t\\u001b[2J\x7f"}',
    '\u0001\r\n\t\u001b[2J\x7f',
  ],
  [
    'C16 passes on paths and separators in a reference',
    '{"reference":"../../a/b?c#d%2e:;\'--"}',
    "../../a/b?c#d%2e:;'--",
  ],
  [
    'C16 passes on an emoji and other planes in a reference',
    '{"reference":"💸𝕒\\ud83d\\ude00"}',
    '💸𝕒😀',
  ],
  ['C16 passes on a reference with blanks at its ends unchanged', '{"reference":" a "}', ' a '],
  [
    'C16 passes on the name of an inherited property as a reference',
    '{"reference":"__proto__"}',
    '__proto__',
  ],
  ['C18 uses the last of two references', '{"reference":"a","reference":"b"}', 'b'],
  [
    'C18 uses the last of two references even if the name is escaped',
    '{"reference":"a","\\u0072eference":"b"}',
    'b',
  ],
  [
    'C21 survives numbers that no double can hold',
    '{"reference":"a","n":[1e400,12345678901234567890,-0,1e-400]}',
    'a',
  ],
];

const inert: readonly (readonly [title: string, body: string])[] = [
  ['C19 keeps "__proto__" in the body inert', '{"reference":"a","__proto__":{"polluted":1}}'],
  [
    'C19 keeps "constructor.prototype" in the body inert',
    '{"reference":"a","constructor":{"prototype":{"polluted":1}}}',
  ],
  [
    'C19 keeps escaped and nested names of prototypes inert',
    '{"reference":"a","b":{"\\u005f_proto__":{"polluted":1}}}',
  ],
];

type Fields = Record<string, unknown>;

/** A common deep merge, with its usual fault. */
function merge(into: Fields, from: Readonly<Fields>): void {
  for (const [key, value] of Object.entries(from)) {
    if (typeof value === 'object' && value !== null)
      merge((into[key] ??= {}) as Fields, value as Fields);
    else into[key] = value;
  }
}

describe.each(hosts)('$name', (host) => {
  it.each(changed)('%s', async (_title, signed, sent) => {
    const serving = await serve(host);
    expectRefused(
      await exchange(serving.port, post(sent, { signature: mac(signed) })),
      401,
      'invalid_signature',
    );
    expect(serving.events).toEqual([]);
  });

  it('C01 rejects a body with any one bit of any byte changed', async () => {
    const serving = await serve(host);
    // One byte's bits at a time: with all at once, the last replies of a busy machine come late.
    for (const at of BODY.keys()) {
      const bits = Array.from({ length: 8 }, (_, bit) => at * 8 + bit);
      const replies = await Promise.all(
        bits.map((bit) => exchange(serving.port, post(flipped(BODY, bit), { signature: VALID }))),
      );
      for (const reply of replies) expectRefused(reply, 401, 'invalid_signature');
    }
    expect(serving.events).toEqual([]);
  });

  it('C01 rejects one changed bit at either end or in the middle of a body in many pieces', async () => {
    const serving = await serve(host);
    const body = bodyOf(60_000);
    for (const bit of [0, 7, 16_384 * 8, 32_768 * 8 + 3, 59_999 * 8 + 7]) {
      const request = post(flipped(body, bit), { signature: mac(body) });
      const reply = await exchange(
        serving.port,
        request.subarray(0, 20_000),
        request.subarray(20_000, 40_000),
        request.subarray(40_000),
      );
      expectRefused(reply, 401, 'invalid_signature');
    }
    expect(serving.events).toEqual([]);
  });

  it('C10 rejects an empty body without a signature', async () => {
    const serving = await serve(host);
    for (const framing of [0, 'none', 'chunked'] as const) {
      expectRefused(
        await exchange(serving.port, post('', { signature: [], framing })),
        401,
        'invalid_signature',
      );
    }
    expect(serving.events).toEqual([]);
  });

  it('C09 refuses a signed empty body in every framing', async () => {
    const serving = await serve(host);
    for (const framing of [0, 'none', 'chunked'] as const) {
      expectRefused(await exchange(serving.port, post('', { framing })), 400, 'invalid_payload');
    }
    expect(serving.events).toEqual([]);
  });

  it.each(invalid)('%s', async (_title, ...bodies) => {
    const serving = await serve(host);
    for (const body of bodies) {
      const reply = await exchange(serving.port, post(body));
      expectRefused(reply, 400, 'invalid_payload');
      // The body was read to its end, so a retry may reuse the connection.
      expect(reply.headers.get('connection')).not.toBe('close');
    }
    expect(serving.events).toEqual([]);
    expect(serving.errors).toEqual([]);
  });

  it('C13 J10 quotes a body that is not JSON neither in the reply nor in the log', async () => {
    const serving = await serve(host);
    // V8 quotes some ten characters around the fault, which are shorter than the body.
    mustStaySecret('xq7-zz41-kk9');
    const { body } = await exchange(serving.port, post('{"reference":xq7-zz41-kk9}'));
    expect(body).toBe('{"error":"invalid_payload"}');
    expect(log()).not.toMatch(/xq7|SyntaxError|Unexpected token/);
  });

  it.each(handedOn)('%s', async (_title, body, reference) => {
    const serving = await serve(host);
    expectAcknowledged(await exchange(serving.port, post(body)));
    expect(references(serving)).toEqual([reference]);
  });

  it.each(inert)('%s', async (_title, body) => {
    const serving = await serve(host);
    expectAcknowledged(await exchange(serving.port, post(body)));
    const payload = serving.events[0]!.payload;
    const merged: Fields = {};
    merge(merged, payload);
    // A changed process-wide prototype would show on any object, a merged prototype on the merged
    // object.
    expect([
      merged['polluted'],
      ({} as Fields)['polluted'],
      (merged['b'] as Fields | undefined)?.['polluted'],
    ]).toEqual([undefined, undefined, undefined]);
    expect(Object.getPrototypeOf({ ...Object.assign({}, payload) })).toBe(Object.prototype);
    expect((Object.assign({}, payload) as Fields)['polluted']).toBeUndefined();
    expect(references(serving)).toEqual(['a']);
  });

  it.each([
    ['10,000 arrays', nested(10_000), undefined],
    ['30,000 arrays with an escape inside', nested(30_000, '"\\u0041"'), undefined],
    ['500,000 arrays', nested(500_000), 2_000_000],
    ['500,000 arrays with an escape inside', nested(500_000, '"\\u0041"'), 2_000_000],
    [
      '10,000 objects',
      `{"reference":"a","deep":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
      undefined,
    ],
  ])('C20 survives %s within one another', async (_what, body, bodyLimit) => {
    const serving = await serve(host, { options: bodyLimit === undefined ? {} : { bodyLimit } });
    const reply = await exchange(serving.port, post(body));
    if (reply.status === 200) expectAcknowledged(reply);
    else expectRefused(reply, 400, 'invalid_payload');
    expect(serving.events).toHaveLength(reply.status === 200 ? 1 : 0);
    expect(serving.errors).toEqual([]);
  });

  it('C23 exposes an amount only as an unknown value in the payload', async () => {
    const serving = await serve(host);
    expectAcknowledged(
      await exchange(serving.port, post('{"reference":"a","amount":1,"currency":"XOF"}')),
    );
    const [event] = serving.events;
    expect(Object.keys(event!).sort()).toEqual([
      'payload',
      'rawBody',
      'reference',
      'secretIndex',
      'tenant',
      'type',
    ]);
    expect(Object.isFrozen(event!.payload)).toBe(true);
  });

  it.each([
    ['failed', 400, 'event_contradicted'],
    ['cancelled', 400, 'event_contradicted'],
    ['pending', 503, 'payment_pending'],
  ])('C24 trusts a signed status of %s over the header', async (status, expected, code) => {
    const serving = await serve(host);
    expectRefused(
      await exchange(serving.port, post(JSON.stringify({ reference: 'a', status }))),
      expected,
      code,
    );
    expect(serving.events).toEqual([]);
  });

  it.each(['success', 'Failed', 1, null])('C24 accepts a signed status of %j', async (status) => {
    const serving = await serve(host);
    expectAcknowledged(
      await exchange(serving.port, post(JSON.stringify({ reference: 'a', status }))),
    );
    expect(references(serving)).toEqual(['a']);
  });

  it('C16 passes on the signed bytes unchanged', async () => {
    const serving = await serve(host);
    const body = Buffer.from(`\n{"reference" : "a\\u00e9",\t"n":1.0}  `);
    expectAcknowledged(await exchange(serving.port, post(body)));
    expect(Buffer.from(serving.events[0]!.rawBody).equals(body)).toBe(true);
  });
});

it('C01 verifySignature rejects a changed bit in bodies around the size at which the HMAC method changes', async () => {
  // At 32,768 bytes, core changes its way to compute the MAC.
  for (const length of [32_767, 32_768, 32_769]) {
    const body = bodyOf(length);
    const signature = mac(body);
    await verifySignature(body, signature, SECRET);
    for (let bit = 0; bit < length * 8; bit += 1_021) {
      await expect(verifySignature(flipped(body, bit), signature, SECRET)).rejects.toMatchObject({
        code: 'invalid_signature',
      });
    }
  }
});
