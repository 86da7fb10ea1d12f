/** The suite by which somebody proves an adapter for a host of their own. docs/writing-an-adapter.md shows one. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { signedDelivery } from './signed-delivery.js';
import { globalRunner, type TestRunner } from './test-runner.js';
import { breakOff, exchange, requestBytes, type WireReply } from './wire.js';

/** What the suite wants to be served, at `POST /` at the least. */
export interface AdapterSetup {
  readonly options: {
    readonly secret: string;
    readonly bodyLimit: number;
    readonly bodyTimeout: number;
    readonly handlerTimeout: number;
  };
  /** The merchant's handler, for every configured kind. */
  readonly handler: (event: { readonly type: string; readonly reference: string }) => unknown;
}

/** A server with the adapter under test, on 127.0.0.1. */
export interface AdapterServer {
  readonly port: number;
  close(): unknown;
}

export type ListenAdapter = (setup: AdapterSetup) => Promise<AdapterServer> | AdapterServer;

export type { TestRunner };

const SECRET = 'a-secret-for-the-adapter-suite';
const BODY_LIMIT = 1_024;
const RECEIVED = '{"received":true}';

interface Serving {
  readonly port: number;
  /** The references that reached the handler. */
  readonly handled: readonly string[];
}

type Headers = Record<string, string | readonly string[] | undefined>;

const genuine = signedDelivery({ secret: SECRET });
const right = genuine.signature;
const signatureOf = (body: Uint8Array): string => createHmac('sha256', SECRET).update(body).digest('hex');

/**
 * Registers the tests that every adapter has to pass: over real sockets, with whatever an HTTP client would never send.
 *
 * @param listen starts a server with the adapter; it is called for each test
 * @param runner default: the globals `describe` and `it`
 * @throws TypeError when no runner is given and there are no such globals.
 */
export function testAdapter(name: string, listen: ListenAdapter, runner: TestRunner = globalRunner('testAdapter')): void {
  runner.describe(name, () => {
    for (const [title, attack] of Object.entries(attacks)) {
      runner.it(title, () => serve(listen, attack));
    }
  });
}

/** Runs one attack; afterwards the same server must still serve a genuine delivery. */
async function serve(listen: ListenAdapter, attack: (serving: Serving) => Promise<void>): Promise<void> {
  const handled: string[] = [];
  const server = await listen({
    options: { secret: SECRET, bodyLimit: BODY_LIMIT, bodyTimeout: 300, handlerTimeout: 300 },
    handler: ({ reference }) => {
      handled.push(reference);
      if (reference === 'order-that-throws') throw new Error('the handler threw');
      return reference === 'order-that-hangs' ? new Promise(() => undefined) : undefined;
    },
  });
  try {
    await attack({ port: server.port, handled });
    const afterwards = signedDelivery({ secret: SECRET, reference: 'order-afterwards' });
    expectReply(await exchange(server.port, requestBytes(afterwards.rawBody, afterwards.headers)), 200, RECEIVED);
    assert.equal(handled.at(-1), 'order-afterwards');
  } finally {
    await server.close();
  }
}

/** Sends a body that is signed as it is, with headers of the test's own over the genuine ones. */
function send(serving: Serving, headers: Headers = {}, body: Uint8Array = genuine.rawBody, closing = 0): Promise<WireReply> {
  const all = { ...genuine.headers, 'x-service-signature': signatureOf(body), ...headers };
  return exchange(serving.port, requestBytes(body, all), closing);
}

function expectReply(reply: WireReply, status: number, body: string): void {
  assert.deepEqual([reply.status, reply.body], [status, body]);
  assert.match(reply.head, /\r\ncontent-type: application\/json/);
}

async function expectRefused(serving: Serving, reply: Promise<WireReply>, status: number, code: string): Promise<void> {
  expectReply(await reply, status, `{"error":"${code}"}`);
  assert.deepEqual(serving.handled, [], 'the handler must not run');
}

function refusals(cases: Readonly<Record<string, Headers>>, status: number, code: string): Attacks {
  const entries = Object.entries(cases).map(([title, headers]) => [
    title,
    (serving: Serving) => expectRefused(serving, send(serving, headers), status, code),
  ]);
  return Object.fromEntries(entries) as Attacks;
}

function signedBodies(cases: Readonly<Record<string, string | Uint8Array>>, status: number, code: string): Attacks {
  const entries = Object.entries(cases).map(([title, body]) => [
    title,
    (serving: Serving) => expectRefused(serving, send(serving, {}, Buffer.from(body)), status, code),
  ]);
  return Object.fromEntries(entries) as Attacks;
}

type Attacks = Readonly<Record<string, (serving: Serving) => Promise<void>>>;

const attacks: Attacks = {
  async 'hands a genuine delivery to the handler, and acknowledges it'(serving) {
    expectReply(await send(serving), 200, RECEIVED);
    assert.deepEqual(serving.handled, ['order-42']);
  },
  async 'reads a body that comes in pieces of one byte'(serving) {
    const chunks = Array.from(genuine.rawBody, (byte) =>
      Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]),
    );
    const head = requestBytes(new Uint8Array(), {
      ...genuine.headers,
      'Content-Length': undefined,
      'Transfer-Encoding': 'chunked',
    });
    expectReply(await exchange(serving.port, Buffer.concat([head, ...chunks, Buffer.from('0\r\n\r\n')])), 200, RECEIVED);
    assert.deepEqual(serving.handled, ['order-42']);
  },
  async 'does not look at the Content-Type'(serving) {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', undefined]) {
      expectReply(await send(serving, { 'content-type': type }), 200, RECEIVED);
    }
  },
  async 'reads exactly the limit'(serving) {
    const frame = '{"reference":"order-42","note":""}';
    const body = Buffer.from(frame.replace('""}', `"${'n'.repeat(BODY_LIMIT - frame.length)}"}`));
    expectReply(await send(serving, {}, body), 200, RECEIVED);
  },
  async 'acknowledges a signed event of a kind that is not configured, and keeps it from the handler'(serving) {
    expectReply(await send(serving, { 'x-service-event': 'payment.refunded' }), 200, RECEIVED);
    assert.deepEqual(serving.handled, []);
  },
  ...refusals(
    {
      'rejects a missing signature': { 'x-service-signature': undefined },
      'rejects an empty signature': { 'x-service-signature': '' },
      'rejects a wrong signature': { 'x-service-signature': '0'.repeat(64) },
      'rejects two lines of the right signature': { 'x-service-signature': [right, right] },
      'rejects a right and a wrong line': { 'x-service-signature': [right, '0'.repeat(64)] },
      'rejects a wrong and a right line': { 'x-service-signature': ['0'.repeat(64), right] },
      'rejects an upper-case signature': { 'x-service-signature': right.toUpperCase() },
      'rejects a prefixed signature': { 'x-service-signature': `sha256=${right}` },
      'rejects a signature that is cut off': { 'x-service-signature': right.slice(0, 32) },
      'rejects a signature with more behind it': { 'x-service-signature': `${right}00` },
      'rejects a signature with a Latin-1 character': { 'x-service-signature': `${right.slice(0, 63)}é` },
    },
    401,
    'invalid_signature',
  ),
  ...refusals(
    {
      'refuses a missing event header': { 'x-service-event': undefined },
      'refuses a repeated event header': { 'x-service-event': ['payment.succeeded', 'payment.succeeded'] },
      'refuses an event header that is no kind': { 'x-service-event': 'Payment Succeeded' },
    },
    400,
    'invalid_event',
  ),
  ...refusals(
    {
      'refuses a compressed body without inflating it': { 'Content-Encoding': 'gzip' },
      'refuses an unknown content encoding': { 'Content-Encoding': 'identity, x' },
    },
    415,
    'unsupported_encoding',
  ),
  ...signedBodies(
    {
      'refuses a signed body with a byte order mark': '\ufeff{"reference":"order-42"}',
      'refuses a signed body that is not UTF-8': Buffer.from('{"reference":"\xff"}', 'latin1'),
      'refuses a signed body that is not JSON': '{"reference"',
      'refuses a signed body without a reference': '{"reference":42}',
      'refuses an empty signed body': '',
    },
    400,
    'invalid_payload',
  ),
  async 'rejects a body that a JSON parser re-serialised'(serving) {
    const body = Buffer.from('{ "reference": "order-42" }');
    await expectRefused(serving, send(serving, { 'x-service-signature': right }, body), 401, 'invalid_signature');
  },
  async 'rejects a body with a byte that no text decoder would tell apart'(serving) {
    const signed = signatureOf(Buffer.of(0xff));
    await expectRefused(serving, send(serving, { 'x-service-signature': signed }, Buffer.of(0xfe)), 401, 'invalid_signature');
  },
  async 'answers a declared length over the limit at once, before the body'(serving) {
    const head = requestBytes(new Uint8Array(), { ...genuine.headers, 'Content-Length': String(10 * BODY_LIMIT) });
    await expectRefused(serving, exchange(serving.port, head), 413, 'body_too_large');
  },
  async 'stops a body without a declared length at the limit'(serving) {
    const head = requestBytes(new Uint8Array(), {
      ...genuine.headers,
      'Content-Length': undefined,
      'Transfer-Encoding': 'chunked',
    });
    const chunk = Buffer.from(`${(2 * BODY_LIMIT).toString(16)}\r\n${'x'.repeat(2 * BODY_LIMIT)}\r\n`);
    await expectRefused(serving, exchange(serving.port, Buffer.concat([head, chunk])), 413, 'body_too_large');
  },
  async 'answers a bad signature before the body has come'(serving) {
    const head = requestBytes(new Uint8Array(), { ...genuine.headers, 'x-service-signature': 'x', 'Content-Length': '100' });
    await expectRefused(serving, exchange(serving.port, head), 401, 'invalid_signature');
  },
  async 'gives a body that stands still its time and no more'(serving) {
    const head = requestBytes(Buffer.from('{'), { ...genuine.headers, 'Content-Length': '100' });
    await expectRefused(serving, exchange(serving.port, head), 408, 'body_timeout');
  },
  async 'survives a sender that goes away in the middle of the body'(serving) {
    for (let time = 0; time < 10; time++) {
      await breakOff(serving.port, requestBytes(Buffer.from('{'), { ...genuine.headers, 'Content-Length': '100' }));
    }
    assert.deepEqual(serving.handled, []);
  },
  async 'leaves what the handler throws to the host: 500, and none of its words'(serving) {
    const reply = await send(serving, {}, Buffer.from('{"reference":"order-that-throws"}'));
    assert.equal(reply.status, 500);
    assert.doesNotMatch(reply.body, /the handler threw/);
  },
  async 'answers 503 when the handler hangs'(serving) {
    const reply = await send(serving, {}, Buffer.from('{"reference":"order-that-hangs"}'));
    expectReply(reply, 503, '{"error":"handler_timeout"}');
    assert.match(reply.head, /\r\nretry-after: \d/);
  },
};
