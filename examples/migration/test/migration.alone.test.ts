import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createVerifier } from '@paylink/core';
import { signedDelivery, TEST_SECRET, type SignedDelivery } from '@paylink/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import * as onJson from '../src/old-json.js';
import * as onOctokit from '../src/old-octokit.js';
import * as onRaw from '../src/old-raw.js';
import { createShadow, type Count } from '../src/shadow.js';

type MakeVerifier = Parameters<typeof createShadow>[0];

const real: MakeVerifier = () =>
  createVerifier({
    secret: TEST_SECRET,
    logger: { warn: () => undefined, error: () => undefined },
  });
const genuine = signedDelivery({ secret: TEST_SECRET, reference: 'order-1' });
const forged = signedDelivery({ secret: 'a-secret-of-nobody', reference: 'order-2' });
const spaced = signedDelivery({ secret: TEST_SECRET, rawBody: '{ "reference": "order-3" }' });
/** A genuine body with an added line break: other bytes of the same JSON. */
const lengthened = { ...genuine, rawBody: Buffer.concat([genuine.rawBody, Buffer.from('\n')]) };
/** A delivery without a signature and event. */
const bare = { rawBody: genuine.rawBody, headers: { 'content-type': 'application/json' } };
const ALL = { genuine, forged, spaced, lengthened, bare };

let servers: Server[] = [];
const rejected = vi.fn();
beforeAll(() => process.on('unhandledRejection', rejected));
afterAll(() => process.off('unhandledRejection', rejected));

afterEach(() => {
  for (const server of servers) server.close().closeAllConnections();
  servers = [];
  expect(rejected).not.toHaveBeenCalled();
});

/** Serves the old receiver with a shadow. Returns its credits and the shadow's counts. */
async function serve(receiver: typeof onRaw, makeVerifier: MakeVerifier, count?: Count) {
  const credited: string[] = [];
  const counts: Record<string, number> = {};
  const add: Count = (old, shadow) => {
    const pair = `${old} / ${shadow}`;
    counts[pair] = (counts[pair] ?? 0) + 1;
  };
  const creditOrder = (reference: string) => credited.push(reference);
  const app = receiver.createApp({
    secret: TEST_SECRET,
    creditOrder,
    shadow: createShadow(makeVerifier, count ?? add),
  });
  const server = app.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
  return { credited, counts, url };
}

/** Returns everything that the sender sees of the answer. */
async function answerTo(
  { rawBody, headers }: Pick<SignedDelivery, 'rawBody' | 'headers'>,
  url: string,
) {
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(rawBody) });
  const seen = Object.fromEntries(response.headers);
  delete seen['date'];
  return { status: response.status, headers: seen, body: await response.text() };
}

async function answersOf(url: string) {
  const answers: Record<string, unknown> = {};
  for (const [name, delivery] of Object.entries(ALL)) answers[name] = await answerTo(delivery, url);
  return answers;
}

const receivers = [
  ['express.raw', onRaw],
  ['express.json', onJson],
  ['another library', onOctokit],
] as const;

describe('the shadow', () => {
  it('agrees with a receiver that signs the bytes, on what is genuine and what is not', async () => {
    for (const receiver of [onRaw, onOctokit]) {
      const { counts, credited, url } = await serve(receiver, real);
      await answersOf(url);
      expect(counts).toEqual({ 'accepted / accepted': 2, 'refused / invalid_signature': 3 });
      expect(credited).toEqual(['order-1', 'order-3']);
    }
  });

  it('counts the genuine notification that a receiver of re-serialised JSON refuses, and the changed one that it accepts', async () => {
    const { counts, credited, url } = await serve(onJson, real);
    expect(await answerTo(spaced, url)).toMatchObject({ status: 401 });
    expect(counts).toEqual({ 'refused / accepted': 1 });
    expect(await answerTo(lengthened, url)).toMatchObject({ status: 200 });
    expect(counts).toEqual({ 'refused / accepted': 1, 'accepted / invalid_signature': 1 });
    expect(credited).toEqual(['order-1']);
  });

  it('counts that it was given no bytes', async () => {
    const count = vi.fn();
    createShadow(real, count)(
      true,
      JSON.parse('{"reference":"order-1"}') as Uint8Array,
      genuine.headers,
    );
    await vi.waitFor(
      () => expect(count.mock.calls).toEqual([['accepted', 'body_consumed']]),
      20_000,
    );
  });

  it('counts a secret that Paylink refuses, and lets the old receiver start', async () => {
    const { counts, url } = await serve(onRaw, () =>
      createVerifier({ secret: ' blank around it ' }),
    );
    expect(await answerTo(genuine, url)).toMatchObject({ status: 200, body: 'ok' });
    expect(counts).toEqual({ 'accepted / error': 1 });
  });

  it('keeps no more than a hundred checks that do not end, and counts the others', async () => {
    const hanging = vi.fn(() => new Promise<unknown>(() => undefined));
    const count = vi.fn();
    const shadow = createShadow(() => ({ verify: hanging }), count);
    for (let time = 0; time < 250; time++) shadow(true, genuine.rawBody, genuine.headers);
    expect(hanging).toHaveBeenCalledTimes(100);
    expect(count.mock.calls).toEqual(Array(150).fill(['accepted', 'skipped']));
  });
});

const fault = new Error('of the shadow');
const failing: [string, MakeVerifier, Count?][] = [
  [
    'throws at once',
    () => ({
      verify: () => {
        throw fault;
      },
    }),
  ],
  ['rejects', () => ({ verify: () => Promise.reject(fault) })],
  ['hangs', () => ({ verify: () => new Promise(() => undefined) })],
  [
    'cannot be made',
    () => {
      throw fault;
    },
  ],
  [
    'works, and whose count throws',
    real,
    () => {
      throw fault;
    },
  ],
];

describe.each(receivers)('the answer of an old receiver on %s', (_name, receiver) => {
  it.each([['works', real] as const, ...failing])(
    'is not changed by a shadow that %s',
    async (_case, makeVerifier, count?) => {
      const alone = await serve(
        { createApp: (settings) => receiver.createApp({ ...settings, shadow: () => undefined }) },
        real,
      );
      const shadowed = await serve(receiver, makeVerifier, count);
      expect(await answersOf(shadowed.url)).toEqual(await answersOf(alone.url));
      expect(shadowed.credited).toEqual(alone.credited);
      expect(alone.credited).toContain('order-1');
      expect(alone.counts).toEqual({});
    },
  );
});
