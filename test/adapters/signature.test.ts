import { describe, expect, it } from 'vitest';
import { BODY, head, mac, post } from './deliveries.js';
import { holdLimits, LINGERS } from './held-limits.js';
import { hosts, newestHosts, readers } from './hosts/index.js';
import {
  expectEnded,
  expectForged,
  expectRefused,
  expectRefusedByParser,
  serve,
} from './serving.js';
import { exchange, Wire } from './wire.js';

const VALID = mac(BODY);
const FORGED = mac(BODY, 'another secret');

describe.each(hosts)('$name', (host) => {
  it(
    'rejects a valid header line beside an empty one, in either order',
    { tags: 'A04' },
    async () => {
      const serving = await serve(host);
      for (const signature of [
        [VALID, ''],
        ['', VALID],
      ])
        await expectForged(serving, post(BODY, { signature }));
      expect(serving.events).toEqual([]);
    },
  );

  it('answers every signature fault with the same bytes', { tags: 'J02' }, async () => {
    const serving = await serve(host);
    const faults = [[], '', `g${VALID.slice(1)}`, VALID.toUpperCase(), FORGED, [VALID, FORGED]];
    const replies = new Set<string>();
    for (const signature of faults) {
      const { bytes } = await exchange(serving.port, post(BODY, { signature }));
      replies.add(bytes.toString('latin1').replace(/^Date: .*\r\n/im, ''));
    }
    expect(replies.size).toBe(1);
    expect(serving.events).toEqual([]);
  });
});

describe.each(readers)('$name', (host) => {
  it.each([
    ['a folded header line', `${VALID.slice(0, 32)}\r\n ${VALID.slice(32)}`],
    ['a lone CR', `${VALID}\r`],
    ['a lone LF', `${VALID.slice(0, 32)}\n${VALID.slice(32)}`],
    ['a NUL after the right MAC', `${VALID}\0`],
    ['a NUL before the right MAC', `\0${VALID}`],
    ['a control character inside the MAC', `${VALID.slice(0, 63)}\x01`],
    ['a DEL after the right MAC', `${VALID}\x7f`],
  ])(
    'lets Node refuse %s in the signature header',
    { tags: ['A08', 'A12', 'A15'] },
    async (_what, signature) => {
      const serving = await serve(host);
      const reply = await exchange(serving.port, post(BODY, { signature }));
      expectRefusedByParser(host, reply, 400);
      await reply.wire.closed();
      expect(serving.events).toEqual([]);
    },
  );
});

describe.each(newestHosts)('$name', (host) => {
  it(
    'answers an impossible signature at once, without waiting for the body',
    { tags: 'A01' },
    async () => {
      const serving = await serve(host);
      using limits = holdLimits(...LINGERS);
      const answered = async (signature: readonly string[]) => {
        const wire = await Wire.open(serving.port);
        await wire.send(head(BODY, { signature, framing: 60_000 }));
        const reply = await wire.reply();
        expectRefused(reply, 401, 'invalid_signature');
        return { wire, reply };
      };
      const signatures = [[], [''], ['short'], [VALID, VALID], [VALID.toUpperCase()]];
      const answers = await Promise.all(signatures.map(answered));
      LINGERS.forEach(limits.release);
      for (const { wire, reply } of answers) await expectEnded(host, reply, wire);
      expect(serving.events).toEqual([]);
    },
  );

  it('sends neither a stack trace nor its own banner', { tags: 'J11' }, async () => {
    const serving = await serve(host);
    const requests = [
      post(),
      post(BODY, { signature: FORGED }),
      post('not JSON'),
      post(BODY, { framing: 70_000 }),
      post(BODY, { event: '' }),
    ];
    for (const request of requests) {
      const { headers, body } = await exchange(serving.port, request);
      const names = [...headers.keys()].filter((name) => !host.capabilities.banners.includes(name));
      expect([
        'connection',
        'content-length',
        'content-type',
        'date',
        'etag',
        'keep-alive',
        'www-authenticate',
      ]).toEqual(expect.arrayContaining(names));
      expect(body).toMatch(/^\{"(received":true|error":"[a-z_]+")\}$/);
    }
  });
});
