/** Attempts on the invariants themselves, beyond the rows of the list. */
import { gzipSync } from 'node:zlib';
import type { ObserveHook } from '@paylink/core';
import { describe, expect, it, vi } from 'vitest';
import { BODY, chunk, genuine, head, mac, post, REFERENCE } from './deliveries.js';
import { newestHosts, readers } from './hosts/index.js';
import {
  eventually,
  expectAccepted,
  expectAcknowledged,
  expectForged,
  expectRefused,
  references,
  serve,
} from './serving.js';
import { mustStaySecret } from './secrets.js';
import { expectNoSecretIn, log } from './watch.js';
import { begin, chunked, exchange, type HeaderLines } from './wire.js';

const VALID = mac(BODY);
const FORGED = mac(BODY, 'another secret');

describe.each(newestHosts)('$name', (host) => {
  it('never mistakes bytes of a refused body for a request', async () => {
    const serving = await serve(host);
    // A recorded genuine delivery, placed where the rest of an over-long or wrongly signed body is
    // expected.
    const inside = genuine('order-inside');
    const refusals: readonly (readonly [Buffer, Buffer | string])[] = [
      [head(BODY, { framing: 70_000 }), inside],
      [head(BODY, { framing: inside.length, signature: 'short' }), inside],
      [head(BODY, { framing: inside.length, lines: [['Content-Encoding', 'gzip']] }), inside],
      [head(inside, { signature: FORGED }), inside],
      [head(BODY, { framing: 'chunked', signature: FORGED }), chunked(inside)],
      [
        head(BODY, { framing: 'chunked', signature: [] }),
        Buffer.concat([chunk(inside), Buffer.from('0\r\n')]),
      ],
    ];
    for (const [start, rest] of refusals) {
      const wire = await begin(serving.port, start, rest);
      expect((await wire.reply()).status).toBeGreaterThanOrEqual(400);
    }
    expect(serving.events).toEqual([]);
  });

  it('never answers a pipelined delivery with the reply of a refused one', async () => {
    const serving = await serve(host);
    const wire = await begin(
      serving.port,
      Buffer.concat([post(BODY, { signature: FORGED }), genuine('order-behind')]),
    );
    expectRefused(await wire.reply(), 401, 'invalid_signature');
    // One reply, then the close: the second request's sender gets no answer and retries.
    if (host.capabilities.closes !== false) await wire.closed();
    else expectAcknowledged(await wire.reply());
  });

  it('answers pipelined deliveries in order, each by its own signature', async () => {
    const serving = await serve(host);
    const wire = await begin(
      serving.port,
      Buffer.concat([
        genuine('order-1'),
        post('[]'),
        genuine('order-3'),
        post(BODY, { signature: VALID }),
      ]),
    );
    for (const status of [200, 400, 200, 200]) expect((await wire.reply()).status).toBe(status);
    expect(references(serving)).toEqual(['order-1', 'order-3', REFERENCE]);
  });

  it('verifies each of many concurrent deliveries against its own body', async () => {
    const serving = await serve(host);
    // The bodies arrive interleaved, a byte at a time, and every other signature is the
    // neighbour's.
    const orders = Array.from({ length: 10 }, (_, index) =>
      Buffer.from(`{"reference":"order-${index + 100}"}`),
    );
    const wires = await Promise.all(
      orders.map((body, index) =>
        begin(serving.port, head(body, { signature: mac(orders[index % 2 ? index - 1 : index]!) })),
      ),
    );
    for (let at = 0; at < orders[0]!.length; at++) {
      await Promise.all(
        wires.map((wire, index) => wire.write(orders[index]!.subarray(at, at + 1))),
      );
    }
    const replies = await Promise.all(wires.map((wire) => wire.reply()));
    expect(replies.map(({ status }) => status)).toEqual(
      orders.map((_, index) => (index % 2 ? 401 : 200)),
    );
    expect(references(serving).sort()).toEqual(
      orders.filter((_, index) => index % 2 === 0).map((_, index) => `order-${index * 2 + 100}`),
    );
  });

  it('answers an HTTP/1.0 sender and closes the connection', async () => {
    const serving = await serve(host);
    const reply = await exchange(serving.port, post(BODY, { version: '1.0' }));
    expectAcknowledged(reply);
    await reply.wire.closed();
    expectRefused(
      await exchange(serving.port, post('', { version: '1.0', framing: 'none' })),
      400,
      'invalid_payload',
    );
  });

  it(
    'ignores a relabelled success and accepts the genuine notification later',
    { tags: 'E07' },
    async () => {
      const serving = await serve(host);
      await expectAccepted(serving, post(BODY, { event: 'payment.unknown' }));
      expect(serving.events).toEqual([]);
      await expectAccepted(serving, post());
      expect(references(serving)).toEqual([REFERENCE]);
    },
  );

  it('neither observes nor logs data of the sender in a refusal', { tags: 'E02' }, async () => {
    const observe = vi.fn<ObserveHook>();
    const serving = await serve(host, { options: { observe, bodyTimeout: 100 } });
    const body = '{"reference":"reference-of-a-stranger"}';
    const refused = [
      post(body, { signature: FORGED, event: 'kind-of-a-stranger' }),
      post(body, { signature: [], event: 'kind-of-a-stranger' }),
      head(body, { event: 'kind-of-a-stranger' }),
      post(body, { event: 'x%0a[paylink]-line-of-a-stranger' }),
    ];
    for (const request of refused) await exchange(serving.port, request);
    for (const [outcome] of observe.mock.calls)
      expect(outcome).toMatchObject({ outcome: 'rejected' });
    await expectAccepted(serving, post(BODY, { event: 'kind-of-a-stranger' }));
    expect(observe).toHaveBeenCalledTimes(refused.length + 1);
    expect(JSON.stringify(observe.mock.calls) + log()).not.toMatch(/stranger/);
  });

  it(
    'prints neither the secret, the signature nor the body for any outcome',
    { tags: ['C13', 'J01', 'J10'] },
    async () => {
      // Every test checks the console and replies. This test also checks other outputs.
      let written = '';
      for (const stream of [process.stdout, process.stderr]) {
        vi.spyOn(stream, 'write').mockImplementation((text) => {
          written += String(text);
          return true;
        });
      }
      try {
        const serving = await serve(host, { options: { bodyTimeout: 50, bodyLimit: 200 } });
        // V8 quotes some ten characters around a fault in JSON, which are shorter than the body.
        mustStaySecret('xq7-zz41-kk9');
        const told = '{"reference":"order-told"}';
        const requests = [
          ...[{}, { signature: FORGED }, { signature: [] }, { event: 'Not a kind' }].map(
            (message) => post(told, message),
          ),
          post(told, { framing: 150 }),
          post('{"reference":xq7-zz41-kk9}'),
          post(`{"reference":"order-told","status":"pending"}`),
          post('n'.repeat(201)),
        ];
        for (const request of requests) {
          const { bytes } = await exchange(serving.port, request);
          expectNoSecretIn(bytes.toString('latin1'));
        }
        expect(written + log()).not.toMatch(/xq7|SyntaxError|Unexpected token/);
        expectNoSecretIn(written + log());
      } finally {
        vi.restoreAllMocks();
      }
      // Proves that a leak would be seen.
      expect(() => {
        expectNoSecretIn(`signature ${FORGED}`);
      }).toThrow('the output holds');
    },
  );

  it('sends no 2xx before the handler is done', async () => {
    let done: (() => void) | undefined;
    const serving = await serve(host, {
      handler: ({ reference }) =>
        reference === REFERENCE ? new Promise<void>((resolve) => (done = resolve)) : undefined,
    });
    const wire = await begin(serving.port, post());
    await eventually('the handler', () => done !== undefined);
    await expect(wire.reply('POST', 150)).rejects.toThrow('no reply in 150 ms');
    done!();
    expectAcknowledged(await wire.reply());
  });
});

// These bytes reach an adapter only through its way to read.
describe.each(readers)('$name', (host) => {
  it('ignores a signature or an event kind in a trailer', async () => {
    const serving = await serve(host);
    const trailer = (line: string): Buffer =>
      Buffer.concat([chunk(BODY), Buffer.from(`0\r\n${line}\r\n\r\n`)]);
    const unsigned = Buffer.concat([
      head(BODY, { framing: 'chunked', signature: [] }),
      trailer(`X-Service-Signature: ${VALID}`),
    ]);
    await expectForged(serving, unsigned);
    const nameless = Buffer.concat([
      head(BODY, { framing: 'chunked', event: [] }),
      trailer('X-Service-Event: payment.succeeded'),
    ]);
    expectRefused(await exchange(serving.port, nameless), 400, 'invalid_event');
    expect(serving.events).toEqual([]);
    // The first request must not lose bytes either.
    const signed = Buffer.concat([
      head(BODY, { framing: 'chunked' }),
      trailer(`X-Service-Signature: ${FORGED}`),
    ]);
    await expectAccepted(serving, signed);
    expect(references(serving)).toEqual([REFERENCE]);
  });

  it.each(['Authorization', 'Cookie', 'Set-Cookie', 'X-Other'])(
    'refuses two lines of a signature header named %s, even if Node keeps only one',
    async (name) => {
      const serving = await serve(host, {
        options: { headers: { signature: name } },
        afterwards: 401,
      });
      for (const values of [
        [VALID, FORGED],
        [FORGED, VALID],
        [VALID, VALID],
      ]) {
        const lines = values.map((value) => [name, value] as const);
        await expectForged(serving, post(BODY, { lines, signature: [] }));
      }
      expect(serving.events).toEqual([]);
      await expectAccepted(serving, post(BODY, { lines: [[name, VALID]], signature: [] }));
    },
  );

  it('decodes only the chunked transfer coding and inflates nothing', async () => {
    const serving = await serve(host);
    const zipped = gzipSync(BODY);
    const lines: HeaderLines = [['Transfer-Encoding', 'gzip, chunked']];
    for (const signed of [BODY, zipped]) {
      const request = Buffer.concat([
        head(zipped, { lines, framing: 'none', signature: mac(signed) }),
        chunked(zipped),
      ]);
      const { status, body } = await exchange(serving.port, request);
      expect([400, 401, 501]).toContain(status);
      expect(['', '{"error":"invalid_payload"}', '{"error":"invalid_signature"}']).toContain(body);
    }
    expect(serving.events).toEqual([]);
  });

  it('leaves chunk extensions out of the body', async () => {
    const serving = await serve(host);
    const request = Buffer.concat([
      head(BODY, { framing: 'chunked' }),
      Buffer.from(`${BODY.length.toString(16)};x="y";${'e'.repeat(2_000)}\r\n`),
      BODY,
      Buffer.from('\r\n0;last\r\n\r\n'),
    ]);
    await expectAccepted(serving, request);
    expect(Buffer.from(serving.events[0]!.rawBody).equals(BODY)).toBe(true);
  });

  it.each([
    [
      'an upgrade to HTTP/2',
      [
        ['Connection', 'Upgrade, HTTP2-Settings'],
        ['Upgrade', 'h2c'],
        ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
      ],
    ],
    ['a hop-by-hop signature header', [['Connection', 'X-Service-Signature, close']]],
    [
      'a trusted address in each forwarding header',
      [
        ['X-Forwarded-For', '127.0.0.1'],
        ['X-Real-IP', '127.0.0.1'],
        ['Forwarded', 'for=127.0.0.1'],
        ['X-Service-Verified', 'true'],
      ],
    ],
    [
      'announced trailers',
      [
        ['TE', 'trailers'],
        ['Trailer', 'X-Service-Signature'],
      ],
    ],
  ] satisfies readonly (readonly [string, HeaderLines])[])(
    'sends the plain reply to a delivery with %s',
    { tags: 'F23' },
    async (_what, lines) => {
      const serving = await serve(host);
      await expectAccepted(serving, post(BODY, { lines }));
      await expectForged(serving, post(BODY, { lines, signature: FORGED }));
      expect(references(serving)).toEqual([REFERENCE]);
    },
  );

  it('changes no prototype for any name in the body or the headers', { tags: 'J08' }, async () => {
    const serving = await serve(host);
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'reference']) {
      const body = `{"reference":"a","${name}":{"prototype":{"polluted":1},"polluted":1,"__proto__":{"polluted":1}},"reference":"a"}`;
      for (const event of ['payment.succeeded', name.toLowerCase()])
        await exchange(serving.port, post(body, { lines: [[name, 'polluted']], event }));
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    }
    expect(new Set(references(serving))).toEqual(new Set(['a']));
  });
});
