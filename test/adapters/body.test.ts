import { describe, expect, it } from 'vitest';
import { bodyOf, mac, post } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { expectAccepted, expectForged, expectRefused, serve } from './serving.js';
import { exchange } from './wire.js';

describe.each(hosts)('$name', (host) => {
  it(
    'rejects one changed bit at either end or in the middle of a body in many pieces',
    { tags: ['C01', 'F18'] },
    async () => {
      const serving = await serve(host);
      const body = bodyOf(60_000);
      for (const at of [0, 32_768, 59_999]) {
        const changed = Buffer.from(body);
        changed[at]! ^= 1;
        const request = post(changed, { signature: mac(body) });
        const pieces = [0, 20_000, 40_000].map((from) => request.subarray(from, from + 20_000));
        await expectForged(serving, ...pieces, request.subarray(60_000));
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
        await expectForged(serving, post('', { signature: [], framing }));
        const signed = await exchange(serving.port, post('', { framing }));
        expectRefused(signed, 400, 'invalid_payload');
        // The body was read to its end, so a retry may reuse the connection.
        expect(signed.headers.get('connection')).not.toBe('close');
      }
      expect(serving.events).toEqual([]);
    },
  );

  it('passes on the signed bytes unchanged', { tags: 'C16' }, async () => {
    const serving = await serve(host);
    const body = Buffer.from(`\n{"reference" : "a\\u00e9",\t"n":1.0}  `);
    await expectAccepted(serving, post(body));
    expect(Buffer.from(serving.events[0]!.rawBody).equals(body)).toBe(true);
  });
});
