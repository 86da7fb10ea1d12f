import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { bodyParser } from '@koa/bodyparser';
import { ConfigurationError } from '@paylink/core';
import { paymentGate, webhookEvent } from '@paylink/express';
import { paymentGate as koaGate, webhookEvent as koaEvent } from '@paylink/koa';
import { signedDelivery } from '@paylink/testing';
import express from 'express';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BODY, bodyOf, head, mac, post, REFERENCE, SECRET } from './deliveries.js';
import { listening, type Surroundings } from './hosts/host.js';
import { gateHosts, handlerHosts } from './hosts/index.js';
import {
  eventually,
  expectAccepted,
  expectAcknowledged,
  expectForged,
  expectRefused,
  references,
  serve,
} from './serving.js';
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

const byMisuse = [...handlerHosts, ...gateHosts].flatMap((host) =>
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

it.each(cases(consumed))(
  '%s behind %s answers 500, logs the remedy and verifies no rebuilt body',
  { tags: ['F01', 'F03', 'F05', 'F06', 'F14'] },
  async (_name, surroundings, host) => {
    const serving = await serve(host, { surroundings, afterwards: 500 });
    for (const pieces of ways(BODY)) {
      expectRefused(await exchange(serving.port, ...pieces), 500, 'body_consumed');
    }
    expect(log()).toMatch(host.capabilities.hint);
    // The output of JSON.stringify(req.body) and its signature: a middleware that repaired the
    // body would accept it.
    const spaced = '{ "reference" : "order-42" }';
    const signature = mac(JSON.stringify(JSON.parse(spaced)));
    expect((await exchange(serving.port, post(spaced, { signature }))).status).toBe(500);
    // Parsers read to the end before Paylink, so the host's time limit applies. Without a body,
    // Paylink's limit applies.
    expect([400, 500]).toContain((await exchange(serving.port, head('', { framing: 0 }))).status);
    expect([serving.events, serving.errors]).toEqual([[], []]);
  },
);

it.each(cases(kept))(
  '%s behind %s verifies the kept bytes, within its own limit and not inflated',
  { tags: ['D12', 'F04', 'F10'] },
  async (_name, surroundings, host) => {
    const serving = await serve(host, { surroundings, options: { bodyLimit: 1_000 } });
    const body = Buffer.from(`{ "reference" :  "${REFERENCE}" }\n`);
    for (const pieces of ways(body)) await expectAccepted(serving, ...pieces);
    expect(references(serving)).toEqual([REFERENCE, REFERENCE]);
    await expectForged(serving, post(body, { signature: mac(BODY) }));
    await expectForged(serving, post(body, { signature: [] }));
    for (const framing of ['chunked', 1_001] as const) {
      const reply = await exchange(serving.port, post(bodyOf(1_001), { framing }));
      expectRefused(reply, 413, 'body_too_large');
    }
    const [zipped, lines] = [gzipSync(BODY), [['Content-Encoding', 'gzip']] as const];
    for (const signed of [BODY, zipped]) {
      const reply = await exchange(serving.port, post(zipped, { signature: mac(signed), lines }));
      expectRefused(reply, 415, 'unsupported_encoding');
    }
    expect(serving.events).toHaveLength(2);
  },
);

it.each(cases(['a clone', 'a body limit', 'a listener for data']))(
  '%s behind %s reads every byte, and answers genuine and forged deliveries',
  { tags: ['F01', 'O11'] },
  async (_name, surroundings, host) => {
    const serving = await serve(host, { surroundings });
    for (const framing of [BODY.length, 'chunked'] as const) {
      for (const pieces of ways(BODY, post(BODY, { framing })))
        await expectAccepted(serving, ...pieces);
      await expectForged(serving, post(BODY, { framing, signature: mac('another body') }));
    }
    expect(serving.events).toHaveLength(4);
  },
);

it.each(cases(['a JSON parser', 'a form parser', 'a JSON parser on the parent']))(
  '%s behind %s works if the parser skips the content type',
  { tags: 'F01' },
  async (_name, surroundings, host) => {
    const serving = await serve(host, {
      surroundings,
      afterwards: surroundings === 'a form parser' ? 200 : 500,
    });
    const contentType = surroundings === 'a form parser' ? 'application/json' : 'text/plain';
    for (const pieces of ways(BODY, post(BODY, { contentType })))
      await expectAccepted(serving, ...pieces);
    expect(references(serving)).toEqual([REFERENCE, REFERENCE]);
  },
);

it.each(cases(['a listener for data, a tick earlier']))(
  '%s behind %s reads a body that comes later, and names the cause of a consumed body',
  { tags: 'O11' },
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

it.each(cases(['an inflater']))(
  '%s behind %s refuses the inflated body',
  { tags: 'N19' },
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

it.each(cases(['the webhook twice']))(
  '%s with %s credits once',
  { tags: 'F21' },
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
  { tags: 'F21' },
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

describe.each(gateHosts)('$name', (host) => {
  it('fails closed if the route has no gate', { tags: 'F22' }, async () => {
    const serving = await serve(host, { surroundings: 'no gate', afterwards: 500 });
    expect((await exchange(serving.port, post())).status).toBe(500);
    expect((await exchange(serving.port, post(BODY, { signature: [] }))).status).toBe(500);
    expect(serving.events).toEqual([]);
    expect(serving.hostErrors).toEqual([
      expect.any(ConfigurationError),
      expect.any(ConfigurationError),
    ]);
  });

  it('gives an error of the code behind the gate to the host, and passes on no refused event', async () => {
    const error = new RangeError('mine');
    const serving = await serve(host, {
      handler: ({ reference }) => reference === REFERENCE && Promise.reject(error),
    });
    const forged = post(BODY, { signature: [] });
    await expectForged(serving, forged);
    expect(serving.events).toEqual([]);
    expect((await exchange(serving.port, post())).status).toBe(500);
    expect(serving.hostErrors).toEqual([error]);
  });
});

describe('a gate in front of every parser', () => {
  it.each([
    ['Express 5', () => onExpress(express)],
    ['Express 4', () => onExpress(createRequire(import.meta.url)('express4') as typeof express)],
    ['Koa', onKoa],
  ])('gives the handler the event on %s', async (_name, listener) => {
    const server = createServer(listener());
    onTestFinished(() => void server.close());
    const origin = `http://127.0.0.1:${(await listening(server)).port}`;
    const long = `{"reference":"order-42","note":"${'a'.repeat(60_000)}"}`;
    for (const rawBody of ['{"reference":"order-42"}', long]) {
      const sent = signedDelivery({ secret: SECRET, rawBody }).send(`${origin}/webhooks/payments`);
      expect(await (await sent).json()).toEqual({ reference: 'order-42' });
    }
    const headers = { 'content-type': 'application/json' };
    const other = await fetch(`${origin}/other`, { method: 'POST', headers, body: '{"a":1}' });
    expect(await other.json()).toEqual({ a: 1 });
  });
});

function onExpress(version: typeof express): RequestListener {
  return version()
    .use('/webhooks', paymentGate({ secret: SECRET }))
    .use(version.json(), version.text(), version.raw({ type: '*/*' }))
    .post(
      '/webhooks/payments',
      (req, res) => void res.json({ reference: webhookEvent(req).reference }),
    )
    .post('/other', (req, res) => void res.json(req.body)) as RequestListener;
}

function onKoa(): RequestListener {
  const gate = koaGate({ secret: SECRET });
  const app = new Koa();
  app.use((ctx, next): Promise<unknown> =>
    ctx.path.startsWith('/webhooks') ? (gate(ctx, next) as Promise<unknown>) : next(),
  );
  app.use(bodyParser());
  app.use((ctx) => {
    const parsed: unknown = ctx.request.body;
    ctx.body = ctx.path === '/other' ? parsed : { reference: koaEvent(ctx).reference };
  });
  const listener = app.callback();
  return (req, res) => void listener(req, res);
}
