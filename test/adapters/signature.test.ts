import { createHash } from 'node:crypto';
import { createVerifier, isWebhookError, verifySignature } from '@paylink/core';
import { describe, expect, it } from 'vitest';
import { BODY, head, mac, PATH, post, REFERENCE, SECRET, type Message } from './deliveries.js';
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
    'A04 rejects a valid header line beside an empty one, in either order, with any lines between them',
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
  ['A11 rejects the end of the right MAC alone', { signature: VALID.slice(1) }],
  [
    'A14 rejects non-ASCII characters of length 64 by any count',
    { signature: utf8(`é${VALID.slice(1)}`) },
    { signature: utf8(`\u0130${VALID.slice(1)}`) },
  ],
  [
    'A19 rejects a MAC under what another program could take for the key',
    { signature: mac(BODY, createHash('sha256').update(SECRET).digest('hex')) },
    { signature: mac(BODY, Buffer.from(SECRET, 'base64')) },
    { signature: mac(VALID) },
  ],
  [
    'A23 rejects a signature in the query beside a forged one, and in a cookie',
    { signature: FORGED, path: `${PATH}?x-service-signature=${VALID}` },
    { signature: [], lines: [['Cookie', `x-service-signature=${VALID}`]] },
  ],
];

/** Encodes text as HTTP clients do: each UTF-8 byte becomes one character. */
function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

const refusedByNode: readonly (readonly [title: string, signature: string])[] = [
  ['A08 lets Node refuse a folded header line', `${VALID.slice(0, 32)}\r\n ${VALID.slice(32)}`],
  ['A08 lets Node refuse a lone CR in the header', `${VALID}\r`],
  ['A08 lets Node refuse a lone LF in the header', `${VALID.slice(0, 32)}\n${VALID.slice(32)}`],
  ['A12 lets Node refuse a NUL after the right MAC', `${VALID}\0`],
  ['A15 lets Node refuse a NUL before the right MAC', `\0${VALID}`],
  ['A15 lets Node refuse a control character inside the MAC', `${VALID.slice(0, 63)}\x01`],
  ['A15 lets Node refuse a DEL after the right MAC', `${VALID}\x7f`],
];

describe.each(hosts)('$name', (host) => {
  it.each(refused.map(([title, ...messages]) => [title, messages] as const))(
    '%s',
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

  it.each(refusedByNode)('%s', async (_title, signature) => {
    const serving = await serve(host);
    const reply = await exchange(serving.port, post(BODY, { signature }));
    expectRefusedByParser(host, reply, 400);
    await reply.wire.closed();
    expect(serving.events).toEqual([]);
  });

  it('A21 accepts the right header beside one with underscores in its name', async () => {
    const serving = await serve(host);
    const lines = [['X_Service_Signature', FORGED]] as const;
    await expectAccepted(serving, post(BODY, { lines }));
    expect(references(serving)).toEqual([REFERENCE]);
  });

  it('J02 answers every signature fault with the same bytes', async () => {
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
  it('A01 answers an impossible signature at once, without waiting for the body', async () => {
    const serving = await serve(host);
    const answered = async (signature: readonly string[]): Promise<void> => {
      const wire = await Wire.open(serving.port);
      await wire.send(head(BODY, { signature, framing: 60_000 }));
      const reply = await wire.reply();
      expectRefused(reply, 401, 'invalid_signature');
      await expectEnded(host, reply, wire);
    };
    await Promise.all([[], [''], ['short'], [VALID, VALID], [VALID.toUpperCase()]].map(answered));
    expect(serving.events).toEqual([]);
  });

  it('J11 sends neither a stack trace nor its own banner', async () => {
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

describe('the verification API', () => {
  const verifier = createVerifier({ secret: SECRET });
  const arrayLike = { toString: () => VALID, length: 64, [Symbol.toPrimitive]: () => VALID };
  const values: readonly (readonly [title: string, value: unknown])[] = [
    ['A20 rejects an array that holds the valid signature', [VALID]],
    ['A20 rejects an array of two valid signatures', [VALID, VALID]],
    ['A20 rejects a number', 1e63],
    ['A20 rejects a Buffer of the valid signature', Buffer.from(VALID)],
    ['A20 rejects undefined', undefined],
    ['A20 rejects null', null],
    ['A20 rejects an object that converts to the valid signature', arrayLike],
    ['A20 rejects a String object', Object(VALID)],
    ['A20 rejects a Proxy of a String object', new Proxy(Object(VALID) as object, {})],
    ['A15 rejects a NUL after the right MAC', `${VALID}\0`],
    ['A15 rejects a line break after the right MAC', `${VALID}\n`],
    ['A15 rejects a control character instead of a digit', `\x01${VALID.slice(1)}`],
    // The lower case of U+0130 has two characters. U+FF10 and others share their low byte with a
    // control character.
    [
      'A14 rejects wide characters whose low bytes are the right digits',
      Array.from(VALID, (digit) => String.fromCharCode(digit.charCodeAt(0) | 0x100)).join(''),
    ],
  ];

  it.each(values)('%s', async (_title, value) => {
    const headers = {
      'x-service-signature': value as string,
      'x-service-event': 'payment.succeeded',
    };
    const refusals = [
      () => verifier.verify(BODY, headers),
      () => verifySignature(BODY, value, SECRET),
    ];
    for (const refusal of refusals) {
      const error: unknown = await refusal().then(
        () => 'accepted',
        (thrown: unknown) => thrown,
      );
      expect(isWebhookError(error) && [error.code, error.status]).toEqual([
        'invalid_signature',
        401,
      ]);
    }
  });

  it('F20 resolves with the event or throws, and never returns a boolean', async () => {
    const headers = { 'x-service-signature': VALID, 'x-service-event': 'payment.succeeded' };
    expect((await verifier.verify(BODY, headers)).reference).toBe(REFERENCE);
    await expect(verifySignature(BODY, VALID, SECRET)).resolves.toBeUndefined();
    // Not awaited, a refusal is an unhandled rejection, which ends the process instead of
    // succeeding silently.
    await expect(
      verifier.verify(BODY, { ...headers, 'x-service-signature': FORGED }),
    ).rejects.toMatchObject({
      code: 'invalid_signature',
    });
    await expect(verifySignature(BODY, FORGED, SECRET)).rejects.toMatchObject({
      code: 'invalid_signature',
    });
  });

  it.each([
    ['the parsed body', JSON.parse(BODY.toString()) as unknown],
    ['a text', BODY.toString()],
    ['a JSON form of a Buffer', BODY.toJSON()],
    ['an ArrayBuffer', new Uint8Array(BODY).buffer],
    ['nothing', undefined],
  ])('F03 refuses a body that is not raw bytes: %s', async (_what, body) => {
    const bytes = body as Uint8Array;
    const headers = { 'x-service-signature': VALID, 'x-service-event': 'payment.succeeded' };
    await expect(verifier.verify(bytes, headers)).rejects.toMatchObject({ code: 'body_consumed' });
    await expect(verifySignature(bytes, VALID, SECRET)).rejects.toMatchObject({
      code: 'body_consumed',
    });
  });
});
