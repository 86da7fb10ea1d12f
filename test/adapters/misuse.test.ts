import { gzipSync } from 'node:zlib';
import { ConfigurationError } from '@paylink/core';
import { describe, expect, it } from 'vitest';
import { BODY, bodyOf, head, mac, post, REFERENCE } from './deliveries.js';
import type { Surroundings } from './hosts/host.js';
import { gateHosts, hosts } from './hosts/index.js';
import { eventually, expectAcknowledged, expectRefused, references, serve } from './serving.js';
import { log } from './watch.js';
import { begin, exchange } from './wire.js';

const consumed: readonly Surroundings[] = [
  'a JSON parser',
  'a naive reader',
  'a text decoder',
  'a text parser',
  'a JSON parser that keeps a string',
  'a JSON parser on the parent',
];

const kept: readonly Surroundings[] = ['a JSON parser that keeps a Buffer', 'a raw parser'];

const byMisuse = hosts.flatMap((host) =>
  host.capabilities.surroundings.map((surroundings) => ({ host, name: host.name, surroundings })),
);
const cases = (chosen: readonly Surroundings[]) =>
  chosen.flatMap((surroundings) =>
    byMisuse
      .filter((one) => one.surroundings === surroundings)
      .map((one) => [one.name, surroundings, one.host] as const),
  );

/** The two ways to read a body: in one piece, or after the headers. */
const ways = (body: Buffer, request = post(body)): Buffer[][] => [
  [request],
  [request.subarray(0, request.length - 9), request.subarray(-9)],
];

describe('if middleware handles the body first', () => {
  it.each(cases(consumed))(
    '%s behind %s answers 500 and logs the remedy',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings, afterwards: 500 });
      for (const pieces of ways(BODY)) {
        expectRefused(await exchange(serving.port, ...pieces), 500, 'body_consumed');
      }
      expect(log()).toMatch(host.capabilities.hint);
      expect(serving.events).toEqual([]);
      expect(serving.errors).toEqual([]);
    },
  );

  it.each(cases(consumed))(
    '%s behind %s does not verify a rebuilt body',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings, afterwards: 500 });
      // The output of JSON.stringify(req.body) and its signature: a middleware that repaired the
      // body would accept it.
      const spaced = '{ "reference" : "order-42" }';
      for (const body of [JSON.stringify(JSON.parse(spaced)), spaced]) {
        const { status } = await exchange(serving.port, post(spaced, { signature: mac(body) }));
        expect(status).toBe(500);
      }
      expect(serving.events).toEqual([]);
    },
  );

  it.each(cases(kept))(
    '%s behind %s verifies the kept bytes',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings });
      const body = Buffer.from(`{ "reference" :  "${REFERENCE}" }\n`);
      for (const pieces of ways(body)) expectAcknowledged(await exchange(serving.port, ...pieces));
      expect(references(serving)).toEqual([REFERENCE, REFERENCE]);
      expectRefused(
        await exchange(serving.port, post(body, { signature: mac(BODY) })),
        401,
        'invalid_signature',
      );
      expectRefused(
        await exchange(serving.port, post(body, { signature: [] })),
        401,
        'invalid_signature',
      );
      expect(serving.events).toHaveLength(2);
    },
  );

  it.each(cases(['a clone', 'a body limit']))(
    '%s behind %s reads the body that middleware left',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings });
      for (const framing of [BODY.length, 'chunked'] as const) {
        for (const pieces of ways(BODY, post(BODY, { framing })))
          expectAcknowledged(await exchange(serving.port, ...pieces));
        expectRefused(
          await exchange(serving.port, post(BODY, { framing, signature: mac('another body') })),
          401,
          'invalid_signature',
        );
      }
      expect(serving.events).toHaveLength(4);
    },
  );

  it.each(cases(kept))('%s behind %s applies its own limit', async (_name, surroundings, host) => {
    const serving = await serve(host, { surroundings, options: { bodyLimit: 100 } });
    const body = bodyOf(101);
    expectRefused(await exchange(serving.port, post(body)), 413, 'body_too_large');
    expectRefused(
      await exchange(serving.port, post(body, { framing: 'chunked' })),
      413,
      'body_too_large',
    );
    expect(serving.events).toEqual([]);
  });

  it.each(cases(kept))(
    '%s behind %s refuses a body that the parser inflated',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings });
      for (const signed of [BODY, gzipSync(BODY)]) {
        const request = post(gzipSync(BODY), {
          signature: mac(signed),
          lines: [['Content-Encoding', 'gzip']],
        });
        const reply = await exchange(serving.port, request);
        expectRefused(reply, 415, 'unsupported_encoding');
      }
      expect(serving.events).toEqual([]);
    },
  );

  it.each(cases(['a JSON parser', 'a form parser', 'a JSON parser on the parent']))(
    '%s behind %s works if the parser skips the content type',
    async (_name, surroundings, host) => {
      const serving = await serve(host, {
        surroundings,
        afterwards: surroundings === 'a form parser' ? 200 : 500,
      });
      const contentType = surroundings === 'a form parser' ? 'application/json' : 'text/plain';
      for (const pieces of ways(BODY, post(BODY, { contentType })))
        expectAcknowledged(await exchange(serving.port, ...pieces));
      expect(references(serving)).toEqual([REFERENCE, REFERENCE]);
    },
  );

  it.each(cases(['a listener for data']))(
    '%s behind %s also reads every byte, and answers genuine and forged deliveries',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings });
      for (const framing of [BODY.length, 'chunked'] as const) {
        const request = post(BODY, { framing });
        for (const pieces of [[request], [request.subarray(0, -9), request.subarray(-9)]]) {
          expectAcknowledged(await exchange(serving.port, ...pieces));
        }
        const forged = post(BODY, { framing, signature: mac('another body') });
        expectRefused(await exchange(serving.port, forged), 401, 'invalid_signature');
      }
      expect(serving.events).toHaveLength(4);
    },
  );

  it.each(cases(['a listener for data, a tick earlier']))(
    '%s behind %s reads a body that comes later, and names the cause of a consumed body',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings, afterwards: [200, 500] });
      for (const [signature, status] of [
        [mac(BODY), 200],
        [mac('another body'), 401],
      ] as const) {
        // A server answers 100 before its first middleware runs, and the body follows.
        const wire = await begin(
          serving.port,
          head(BODY, { signature, lines: [['Expect', '100-continue']] }),
        );
        expect((await wire.reply()).status).toBe(100);
        await new Promise((resolve) => setTimeout(resolve, 20));
        await wire.send(BODY);
        expect((await wire.reply()).status).toBe(status);
      }
      expect(references(serving)).toEqual([REFERENCE]);
      const reply = await exchange(serving.port, post());
      expectRefused(reply, 500, 'body_consumed');
      expect(log()).toContain(
        'a `data` listener or another reader (tracing, a request logger) read the body first',
      );
      expect(serving.events).toHaveLength(1);
    },
  );

  it.each(cases(consumed))(
    '%s behind %s does not hang on an empty body',
    async (_name, surroundings, host) => {
      // Parsers read to the end before Paylink, so the host's time limit applies. Without a body,
      // Paylink's limit applies.
      const serving = await serve(host, { surroundings, afterwards: 500 });
      const wire = await begin(serving.port, head('', { framing: 0 }));
      const { status } = await wire.reply();
      expect([400, 500]).toContain(status);
      expect(serving.events).toEqual([]);
    },
  );
});

describe('if middleware inflates the body and deletes Content-Encoding', () => {
  it.each(cases(['an inflater']))(
    '%s behind %s refuses the inflated body',
    async (_name, surroundings, host) => {
      const serving = await serve(host, { surroundings });
      for (const signed of [BODY, gzipSync(BODY)]) {
        for (const framing of ['chunked', undefined] as const) {
          const signature = mac(signed);
          const lines = [['Content-Encoding', 'gzip']] as const;
          const reply = await exchange(
            serving.port,
            post(gzipSync(BODY), { signature, lines, ...(framing && { framing }) }),
          );
          expectRefused(reply, 415, 'unsupported_encoding');
        }
      }
      expect(serving.events).toEqual([]);
    },
  );
});

describe('if the webhook is mounted twice', () => {
  it.each(cases(['the webhook twice']))(
    '%s with %s credits once',
    async (_name, surroundings, host) => {
      const { gate } = host.capabilities;
      const serving = await serve(host, { surroundings, afterwards: gate ? 500 : 200 });
      for (const pieces of ways(BODY)) {
        const reply = await exchange(serving.port, ...pieces);
        // Handlers answer, so the second webhook is not reached. A second gate finds no body to
        // verify.
        if (gate) expectRefused(reply, 500, 'body_consumed');
        else expectAcknowledged(reply);
      }
      expect(serving.events).toHaveLength(gate ? 0 : 2);
    },
  );

  it.each(cases(['another webhook at once']))(
    '%s with %s credits once and sends one reply',
    async (_name, surroundings, host) => {
      // The second webhook finds no body to verify, and does not run the handler again.
      let working = 0;
      const handler = async (): Promise<void> => {
        working += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        working -= 1;
      };
      const serving = await serve(host, { surroundings, handler, afterwards: [200, 500] });
      const bodies = [1, 2, 3].map((count) => Buffer.from(`{"reference":"order-${count}"}`));
      for (const [index, body] of bodies.entries()) {
        const reply = await exchange(serving.port, ...[...ways(body), [head(body), body]][index]!);
        if (reply.status === 200) expectAcknowledged(reply);
        else expectRefused(reply, 500, 'body_consumed');
      }
      // A reply may precede the handler. After another exchange, the handler has had time.
      expect(
        (await exchange(serving.port, post(BODY, { signature: mac('another body') }))).status,
      ).toBeGreaterThan(400);
      await eventually('the end of the handlers', () => working === 0);
      expect(references(serving)).toEqual([...new Set(references(serving))]);
    },
  );
});

describe.each(gateHosts)('$name', (host) => {
  it('fails closed if the route has no gate', async () => {
    const serving = await serve(host, { surroundings: 'no gate', afterwards: 500 });
    expect((await exchange(serving.port, post())).status).toBe(500);
    expect((await exchange(serving.port, post(BODY, { signature: [] }))).status).toBe(500);
    expect(serving.events).toEqual([]);
    expect(serving.errors).toEqual([
      expect.any(ConfigurationError),
      expect.any(ConfigurationError),
    ]);
  });

  it('passes on no refused event, whatever the route does', async () => {
    const serving = await serve(host);
    expectRefused(
      await exchange(serving.port, post(BODY, { signature: [] })),
      401,
      'invalid_signature',
    );
    expect([serving.events, serving.errors]).toEqual([[], []]);
  });
});
