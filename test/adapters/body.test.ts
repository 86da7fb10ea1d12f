import { describe, expect, it } from 'vitest';
import { BODY, bodyOf, mac, post } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { expectAccepted, expectRefused, serve } from './serving.js';
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

describe.each(hosts)('$name', (host) => {
  it('rejects a body with one bit of any byte changed', { tags: 'C01' }, async () => {
    const serving = await serve(host);
    for (const at of BODY.keys()) {
      const changed = flipped(BODY, at * 8 + (at % 8));
      const reply = await exchange(serving.port, post(changed, { signature: VALID }));
      expectRefused(reply, 401, 'invalid_signature');
    }
    expect(serving.events).toEqual([]);
  });

  it(
    'rejects a body that a proxy wrote in another charset or normalisation',
    { tags: ['C02', 'F18'] },
    async () => {
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
    },
  );

  it(
    'rejects one changed bit at either end or in the middle of a body in many pieces',
    { tags: 'C01' },
    async () => {
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
    },
  );

  it(
    'judges an empty body by its signature in every framing',
    { tags: ['C09', 'C10'] },
    async () => {
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
    },
  );

  it(
    'quotes a body that is not JSON neither in the reply nor in the log',
    { tags: ['C13', 'J10'] },
    async () => {
      const serving = await serve(host);
      // V8 quotes some ten characters around the fault, which are shorter than the body.
      mustStaySecret('xq7-zz41-kk9');
      const { body } = await exchange(serving.port, post('{"reference":xq7-zz41-kk9}'));
      expect(body).toBe('{"error":"invalid_payload"}');
      expect(log()).not.toMatch(/xq7|SyntaxError|Unexpected token/);
    },
  );

  it('passes on the signed bytes unchanged', { tags: 'C16' }, async () => {
    const serving = await serve(host);
    const body = Buffer.from(`\n{"reference" : "a\\u00e9",\t"n":1.0}  `);
    await expectAccepted(serving, post(body));
    expect(Buffer.from(serving.events[0]!.rawBody).equals(body)).toBe(true);
  });
});
