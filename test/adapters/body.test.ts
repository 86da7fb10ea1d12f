import { verifySignature } from '@paylink/core';
import { describe, expect, it } from 'vitest';
import { BODY, bodyOf, mac, post, REFERENCE, SECRET } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { expectAccepted, expectAcknowledged, expectRefused, references, serve } from './serving.js';
import { exchange } from './wire.js';
import { mustStaySecret } from './secrets.js';
import { log } from './watch.js';

const VALID = mac(BODY);

/** Flips one bit of one byte. */
function flipped(body: Uint8Array, bit: number): Buffer {
  const bytes = Buffer.from(body);
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes;
}

const nested = (depth: number, inside = ''): string =>
  `{"reference":"${REFERENCE}","deep":${'['.repeat(depth)}${inside}${']'.repeat(depth)}}`;

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

  it('C02 F18 rejects a body that a proxy wrote in another charset or normalisation', async () => {
    const serving = await serve(host);
    const signature = mac('{"reference":"é"}');
    for (const body of [
      Buffer.from('{"reference":"e\u0301"}'),
      Buffer.from('{"reference":"é"}', 'latin1'),
    ]) {
      const reply = await exchange(serving.port, post(body, { signature }));
      expectRefused(reply, 401, 'invalid_signature');
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

  it('C09 C10 judges an empty body by its signature in every framing', async () => {
    const serving = await serve(host);
    for (const framing of [0, 'none', 'chunked'] as const) {
      const unsigned = await exchange(serving.port, post('', { signature: [], framing }));
      expectRefused(unsigned, 401, 'invalid_signature');
      const signed = await exchange(serving.port, post('', { framing }));
      expectRefused(signed, 400, 'invalid_payload');
      // The body was read to its end, so a retry may reuse the connection.
      expect(signed.headers.get('connection')).not.toBe('close');
    }
    expect(serving.events).toEqual([]);
  });

  it('C13 J10 quotes a body that is not JSON neither in the reply nor in the log', async () => {
    const serving = await serve(host);
    // V8 quotes some ten characters around the fault, which are shorter than the body.
    mustStaySecret('xq7-zz41-kk9');
    const { body } = await exchange(serving.port, post('{"reference":xq7-zz41-kk9}'));
    expect(body).toBe('{"error":"invalid_payload"}');
    expect(log()).not.toMatch(/xq7|SyntaxError|Unexpected token/);
  });

  it.each(inert)('%s', async (_title, body) => {
    const serving = await serve(host);
    await expectAccepted(serving, post(body));
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
    await expectAccepted(serving, post('{"reference":"a","amount":1,"currency":"XOF"}'));
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

  it('C16 passes on the signed bytes unchanged', async () => {
    const serving = await serve(host);
    const body = Buffer.from(`\n{"reference" : "a\\u00e9",\t"n":1.0}  `);
    await expectAccepted(serving, post(body));
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
