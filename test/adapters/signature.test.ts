import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BODY, head, mac, PATH, post, REFERENCE, SECRET, type Message } from './deliveries.js';
import { holdLimits, LINGERS } from './held-limits.js';
import { handlerHosts, hosts } from './hosts/index.js';
import {
  expectAccepted,
  expectEnded,
  expectRefused,
  expectRefusedByParser,
  references,
  serve,
} from './serving.js';
import { exchange, Wire } from './wire.js';

const VALID = mac(BODY);
const FORGED = mac(BODY, 'another secret');
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

const refused: readonly (readonly [title: string, ...messages: Message[]])[] = [
  [
    'rejects a valid header line beside an empty one, in either order, with any lines between them',
    { signature: [VALID, ''] },
    { signature: ['', VALID] },
    {
      signature: VALID,
      lines: [
        ['x-SERVICE-signature', FORGED],
        ...range(40).map((index) => [`X-${index}`, 'a'] as const),
      ],
    },
  ],
  ['rejects the end of the right MAC alone', { signature: VALID.slice(1) }],
  [
    'rejects non-ASCII characters of length 64 by any count',
    { signature: utf8(`é${VALID.slice(1)}`) },
    { signature: utf8(`\u0130${VALID.slice(1)}`) },
  ],
  [
    'rejects a MAC under what another program could take for the key',
    { signature: mac(BODY, createHash('sha256').update(SECRET).digest('hex')) },
    { signature: mac(BODY, Buffer.from(SECRET, 'base64')) },
    { signature: mac(VALID) },
  ],
  [
    'rejects a signature in the query beside a forged one, and in a cookie',
    { signature: FORGED, path: `${PATH}?x-service-signature=${VALID}` },
    { signature: [], lines: [['Cookie', `x-service-signature=${VALID}`]] },
  ],
];

/** Encodes text as HTTP clients do: each UTF-8 byte becomes one character. */
function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

const refusedByNode: readonly (readonly [title: string, signature: string])[] = [
  ['lets Node refuse a folded header line', `${VALID.slice(0, 32)}\r\n ${VALID.slice(32)}`],
  ['lets Node refuse a lone CR in the header', `${VALID}\r`],
  ['lets Node refuse a lone LF in the header', `${VALID.slice(0, 32)}\n${VALID.slice(32)}`],
  ['lets Node refuse a NUL after the right MAC', `${VALID}\0`],
  ['lets Node refuse a NUL before the right MAC', `\0${VALID}`],
  ['lets Node refuse a control character inside the MAC', `${VALID.slice(0, 63)}\x01`],
  ['lets Node refuse a DEL after the right MAC', `${VALID}\x7f`],
];

describe.each(hosts)('$name', (host) => {
  it.each(refused.map(([title, ...messages]) => [title, messages] as const))(
    '%s',
    { tags: ['A04', 'A11', 'A14', 'A19', 'A23'] },
    async (_title, messages) => {
      const serving = await serve(host);
      for (const message of messages) {
        const reply = await exchange(serving.port, post(BODY, message));
        expectRefused(reply, 401, 'invalid_signature');
        await expectEnded(host, reply, reply.wire);
      }
      expect(serving.events).toEqual([]);
      expect(serving.errors).toEqual([]);
    },
  );

  it.each(refusedByNode)('%s', { tags: ['A08', 'A12', 'A15'] }, async (_title, signature) => {
    const serving = await serve(host);
    const reply = await exchange(serving.port, post(BODY, { signature }));
    expectRefusedByParser(host, reply, 400);
    await reply.wire.closed();
    expect(serving.events).toEqual([]);
  });

  it(
    'accepts the right header beside one with underscores in its name',
    { tags: 'A21' },
    async () => {
      const serving = await serve(host);
      const lines = [['X_Service_Signature', FORGED]] as const;
      await expectAccepted(serving, post(BODY, { lines }));
      expect(references(serving)).toEqual([REFERENCE]);
    },
  );

  it('answers every signature fault with the same bytes', { tags: 'J02' }, async () => {
    const serving = await serve(host);
    const faults = [
      [],
      '',
      VALID.slice(1),
      `g${VALID.slice(1)}`,
      VALID.toUpperCase(),
      FORGED,
      [VALID, FORGED],
      '0'.repeat(64),
    ];
    const replies = new Set<string>();
    for (const signature of faults) {
      const { bytes } = await exchange(serving.port, post(BODY, { signature }));
      replies.add(bytes.toString('latin1').replace(/^Date: .*\r\n/im, ''));
    }
    expect(replies.size).toBe(1);
    expect(serving.events).toEqual([]);
  });
});

describe.each(handlerHosts)('$name', (host) => {
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
