import type { ObserveHook } from '@paylink/core';
import { describe, expect, it, vi } from 'vitest';
import {
  BODY,
  bodyOf,
  chunk,
  head,
  mac,
  PATH,
  post,
  REFERENCE,
  type Message,
} from './deliveries.js';
import { holdLimits, LINGERS } from './held-limits.js';
import { newestHosts, readers } from './hosts/index.js';
import {
  eventually,
  expectAccepted,
  expectAcknowledged,
  expectClosing,
  expectRefused,
  expectRefusedByParser,
  noConnections,
  references,
  serve,
} from './serving.js';
import { begin, chunked, exchange, type HeaderLines, Wire } from './wire.js';

const LIMIT = 65_536;

/** Sends until the server closes, and returns the number of accepted bytes. */
async function flood(wire: Wire, piece: Buffer): Promise<number> {
  let sent = 0;
  for (const end = performance.now() + 3_000; wire.ending !== 'RST'; sent += piece.length) {
    if (performance.now() > end)
      throw new Error(`the server still takes more after 3 s and ${sent} bytes`);
    await wire.send(piece);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return sent;
}

const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT'];
const CODINGS = ['gzip', 'x-gzip', 'zstd', 'gzip, gzip', 'identity, gzip', 'GZip', 'identity;q=0'];

type Misframed = readonly [title: string, lines: HeaderLines, body: string];

const misframed: readonly Misframed[] = [
  ...['24', '2'].map((length): Misframed => [
    `lets Node refuse a second Content-Length of ${length}`,
    ['24', length].map((each) => ['Content-Length', each]),
    BODY.toString(),
  ]),
  ...['-24', '0x18', '99999999999999999999999'].map((length): Misframed => [
    `lets Node refuse a Content-Length of ${length}`,
    [['Content-Length', length]],
    BODY.toString(),
  ]),
  [
    'lets Node refuse a Transfer-Encoding that does not end in chunked',
    [['Transfer-Encoding', 'gzip']],
    BODY.toString(),
  ],
  [
    'lets Node refuse Content-Length beside Transfer-Encoding',
    [
      ['Content-Length', '24'],
      ['Transfer-Encoding', 'chunked'],
    ],
    chunked(BODY).toString(),
  ],
];

describe.each(newestHosts)('$name', (host) => {
  it('accepts 4 kB in chunks of one byte', { tags: 'D01' }, async () => {
    const serving = await serve(host);
    const body = bodyOf(4_000);
    const bytes = chunked(body, 1);
    const pieces = Array.from({ length: 10 }, (_, index) =>
      bytes.subarray((index * bytes.length) / 10, ((index + 1) * bytes.length) / 10),
    );
    await expectAccepted(serving, head(body, { framing: 'chunked' }), ...pieces);
    expect(references(serving)).toEqual([REFERENCE]);
    expect(Buffer.from(serving.events[0]!.rawBody).equals(body)).toBe(true);
  });

  it(
    'stops a chunked body at the limit, before its end, and closes the connection',
    { tags: 'D02' },
    async () => {
      const serving = await serve(host);
      const body = bodyOf(LIMIT + 1);
      using limits = holdLimits(...LINGERS);
      const wire = await begin(
        serving.port,
        head(body, { framing: 'chunked' }),
        chunk(body.subarray(0, LIMIT)),
        chunk(body.subarray(LIMIT)),
      );
      const reply = await wire.reply();
      expectRefused(reply, 413, 'body_too_large');
      expectClosing(host, reply);
      LINGERS.forEach(limits.release);
      await flood(wire, chunk(Buffer.alloc(16_384, 'n')));
      await noConnections(serving);
      expect(serving.events).toEqual([]);
    },
  );

  it(
    'refuses a declared length over the limit at once, with or without the body',
    { tags: 'D03' },
    async () => {
      const serving = await serve(host);
      using limits = holdLimits(...LINGERS);
      const answered = async (claimed: number, ...pieces: Buffer[]): Promise<Wire> => {
        const wire = await begin(serving.port, head(BODY, { framing: claimed }), ...pieces);
        const reply = await wire.reply();
        expectRefused(reply, 413, 'body_too_large');
        expectClosing(host, reply);
        return wire;
      };
      const [silent, sending] = await Promise.all([
        answered(LIMIT + 1),
        answered(1_000_000_000),
        answered(Number.MAX_SAFE_INTEGER, BODY),
        answered(LIMIT + 1, bodyOf(LIMIT + 1)),
      ]);
      LINGERS.forEach(limits.release);
      await Promise.all([silent.closed(), flood(sending, Buffer.alloc(65_536, 'n'))]);
      expect(serving.events).toEqual([]);
    },
  );

  it(
    'lets a sender read the 413 even if it reads only after the whole body',
    { tags: 'D03' },
    async () => {
      const serving = await serve(host);
      const wire = await Wire.open(serving.port);
      wire.socket.pause();
      using limits = holdLimits(...LINGERS);
      // More than the buffers of both sides hold: a server that stopped reading would end this with
      // a reset, without the reply. The last byte is never sent, because Hono's server keeps a
      // connection after a whole body.
      await wire.write(
        Buffer.concat([head(BODY, { framing: 8_000_001 }), Buffer.alloc(8_000_000)]),
        60_000,
      );
      wire.socket.resume();
      expectRefused(await wire.reply(), 413, 'body_too_large');
      LINGERS.forEach(limits.release);
      await wire.closed();
      expect(serving.events).toEqual([]);
    },
  );

  it.each([100, LIMIT])(
    'accepts a body of the limit of %i and refuses one byte more, in every framing',
    { tags: 'D05' },
    async (bodyLimit) => {
      const serving = await serve(host, { options: { bodyLimit } });
      const [largest, larger] = [bodyOf(bodyLimit), bodyOf(bodyLimit + 1)];
      for (const isChunked of [false, true]) {
        for (const body of [largest, larger]) {
          const bytes = post(body, isChunked ? { framing: 'chunked' } : {});
          const at = bytes.length - Math.min(bodyLimit, 50);
          for (const pieces of [[bytes], [bytes.subarray(0, at), bytes.subarray(at)]]) {
            const reply = await exchange(serving.port, ...pieces);
            if (body === largest) expectAcknowledged(reply);
            else expectRefused(reply, 413, 'body_too_large');
          }
        }
      }
      expect(serving.events).toHaveLength(4);
    },
  );

  it.each([
    ['before any of the body', head(BODY)],
    [
      'in the middle of the body',
      post(BODY.subarray(0, 10), { signature: mac(BODY), framing: BODY.length }),
    ],
    ['one byte before the end', post(BODY, { framing: BODY.length + 1 })],
    [
      'in the middle of a chunk',
      Buffer.concat([head(BODY, { framing: 'chunked' }), chunk(BODY).subarray(0, 10)]),
    ],
    ['before the last chunk', Buffer.concat([head(BODY, { framing: 'chunked' }), chunk(BODY)])],
  ])(
    'runs no handler if the sender ends or breaks the connection %s',
    { tags: 'D07' },
    async (_where, request) => {
      const observe = vi.fn<ObserveHook>();
      const serving = await serve(host, { options: { observe } });
      const ended = await begin(serving.port, request);
      ended.finish();
      // From Node, or from Paylink if Node allows it: the sender has closed only its own side.
      const reply = await ended.reply();
      expect(reply.status).toBe(400);
      if (reply.body !== '{"error":"incomplete_body"}') expectRefusedByParser(host, reply, 400);
      await ended.closed();

      const broken = await begin(serving.port, request);
      broken.reset();
      await noConnections(serving);
      // At once, not after bodyTimeout, because the reading has ended.
      await eventually('the outcomes', () => observe.mock.calls.length === 2);
      // On a Fetch host, the signature alone shows that a chunked body misses its end.
      const code = host.capabilities.fetch
        ? /^(incomplete_body|invalid_signature)$/
        : /^incomplete_/;
      for (const [outcome] of observe.mock.calls) {
        const codes = expect.stringMatching(code) as string;
        expect(outcome).toMatchObject({ outcome: 'rejected', code: codes });
      }
      expect([serving.events, serving.errors]).toEqual([[], []]);
    },
  );

  it.each([
    ['without the end of its body', head(BODY)],
    ['with all of its body', post()],
  ])(
    'settles at once if the sender has left, %s, before the reading begins',
    { tags: 'D07' },
    async (_how, request) => {
      const observe = vi.fn<ObserveHook>();
      const serving = await serve(host, { surroundings: 'something slow', options: { observe } });
      for (const leave of ['finish', 'reset'] as const) {
        const wire = await begin(serving.port, request);
        wire[leave]();
        await noConnections(serving);
      }
      await eventually('the outcomes', () => observe.mock.calls.length === 2, 1_000);
      const handled = observe.mock.calls.filter(([{ outcome }]) => outcome === 'handled').length;
      expect(serving.events).toHaveLength(handled);
      for (const [outcome] of observe.mock.calls) {
        if (outcome.outcome !== 'handled')
          expect(outcome).toMatchObject({ code: 'incomplete_body' });
      }
      expect(serving.errors).toEqual([]);
    },
  );

  it('reads a body that arrived during slow middleware', { tags: 'D07' }, async () => {
    const serving = await serve(host, { surroundings: 'something slow' });
    const large = bodyOf(LIMIT);
    for (const pieces of [
      [post()],
      [head(BODY), BODY],
      [post(BODY, { framing: 'chunked' })],
      [post(large)],
    ]) {
      await expectAccepted(serving, ...pieces);
    }
    expect(serving.events).toHaveLength(4);
  });

  it(
    'leaves no listener behind if one connection carries many deliveries',
    { tags: 'D07' },
    async () => {
      // Node warns about more than ten listeners, and every test checks for warnings.
      const serving = await serve(host);
      const wire = await Wire.open(serving.port);
      for (let count = 0; count < 12; count++) {
        await wire.send(
          ...(count % 2 ? [post()] : [head(BODY), BODY.subarray(0, 9), BODY.subarray(9)]),
        );
        expectAcknowledged(await wire.reply());
      }
      expect(serving.events).toHaveLength(12);
    },
  );

  it(
    'refuses an encoding at once, without reading the body',
    { tags: ['D12', 'D13'] },
    async () => {
      const serving = await serve(host);
      const answered = async (coding: string): Promise<void> => {
        const wire = await begin(
          serving.port,
          head(BODY, { lines: [['Content-Encoding', coding]] }),
        );
        const reply = await wire.reply();
        expectRefused(reply, 415, 'unsupported_encoding');
        expectClosing(host, reply);
      };
      await Promise.all(CODINGS.map(answered));
      expect(serving.events).toEqual([]);
    },
  );

  it('sends 100 Continue and then answers', { tags: 'D16' }, async () => {
    const serving = await serve(host);
    const wire = await begin(serving.port, head(BODY, { lines: [['Expect', '100-continue']] }));
    expect((await wire.reply()).status).toBe(100);
    await wire.send(BODY);
    expectAcknowledged(await wire.reply());
    expect(references(serving)).toEqual([REFERENCE]);
  });
});

describe.each(readers)('$name', (host) => {
  it.each(misframed)('%s', { tags: 'D09' }, async (_title, lines, body) => {
    const serving = await serve(host);
    const reply = await exchange(
      serving.port,
      Buffer.concat([head(BODY, { lines, framing: 'none' }), Buffer.from(body)]),
    );
    expectRefusedByParser(host, reply, 400);
    await reply.wire.closed();
    expect(serving.events).toEqual([]);
  });

  it('lets Node answer another expectation with 417', { tags: 'D17' }, async () => {
    const serving = await serve(host);
    const reply = await exchange(serving.port, post(BODY, { lines: [['Expect', 'foo']] }));
    expect(reply.status).toBe(417);
    expect(serving.events).toEqual([]);
  });

  it('lets Node answer headers over 16 kB with 431', { tags: 'D25' }, async () => {
    const serving = await serve(host);
    const lines = Array.from(
      { length: 2_000 },
      (_, index) => [`X-Header-${index}`, 'value'] as const,
    );
    expectRefusedByParser(host, await exchange(serving.port, post(BODY, { lines })), 431);
    expect(serving.events).toEqual([]);
  });
});

describe.each(
  newestHosts.filter(({ capabilities }) => capabilities.surroundings.includes('every method')),
)('$name', (host) => {
  it('answers 405 to other methods, also with a genuine signature', { tags: 'D18' }, async () => {
    const serving = await serve(host, { surroundings: 'every method' });
    for (const method of METHODS) {
      for (const request of [post(BODY, { method }), post('', { method, framing: 'none' })]) {
        const reply = await exchange(serving.port, request);
        if (method === 'HEAD')
          expect([reply.status, reply.body, reply.headers.get('allow')]).toEqual([405, '', 'POST']);
        else expectRefused(reply, 405, 'method_not_allowed');
      }
    }
    // Older versions of Node do not know this method.
    const { status } = await exchange(serving.port, post(BODY, { method: 'QUERY' }));
    expect([400, 405]).toContain(status);
    expect(serving.events).toEqual([]);
  });

  it('ignores a method in a header or in the query', { tags: 'D19' }, async () => {
    const serving = await serve(host, { surroundings: 'every method' });
    const overriding = (method: string): Message => ({
      path: `${PATH}?_method=${method}`,
      lines: [
        ['X-HTTP-Method-Override', method],
        ['X-Method-Override', method],
      ],
    });
    const put = await exchange(serving.port, post(BODY, { ...overriding('POST'), method: 'PUT' }));
    expectRefused(put, 405, 'method_not_allowed');
    await expectAccepted(serving, post(BODY, overriding('GET')));
    expect(references(serving)).toEqual([REFERENCE]);
  });
});

describe.each(newestHosts.filter(({ capabilities }) => capabilities.routes))('$name', (host) => {
  it('runs only on the configured route and method', { tags: ['D18', 'D26'] }, async () => {
    const serving = await serve(host);
    // A Fetch host resolves the dot segments of a URL.
    const resolved = ['*', '/webhooks/%2e/payments', '/webhooks/x/../payments'];
    const others = [`/${PATH}`, `${PATH}/x`, `/api${PATH}`, '/', '/webhooks'];
    for (const path of [...others, ...(host.capabilities.fetch ? [] : resolved)])
      expect((await exchange(serving.port, post(BODY, { path }))).status, path).toBe(404);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await exchange(serving.port, post(BODY, { method }))).status, method).toBe(404);
    expect(serving.events).toEqual([]);
  });

  it('works under a mounted prefix', { tags: 'D26' }, async () => {
    const serving = await serve(host, { surroundings: 'a mounted router' });
    await expectAccepted(serving, post(BODY, { path: `${PATH}?tenant=1#x` }));
    expect(references(serving)).toEqual([REFERENCE]);
  });
});

describe.each(newestHosts.filter(({ capabilities }) => !capabilities.routes))('$name', (host) => {
  it('ignores the path if the host has no routes', { tags: 'D26' }, async () => {
    const serving = await serve(host);
    for (const path of [
      `${PATH}/`,
      `/${PATH}`,
      '/webhooks/%2e/payments',
      '/',
      'http://other.example/x',
      '/%ff',
    ]) {
      await expectAccepted(serving, post(BODY, { path }));
    }
    expect(serving.events).toHaveLength(6);
  });
});
