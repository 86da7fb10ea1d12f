/** Tests your own adapter. docs/writing-an-adapter.md has an example. */
import assert from 'node:assert/strict';
import { materialOf } from './attacks/attack.js';
import { attacks } from './attacks/index.js';
import { craftOf, rawAttacks } from './attacks/raw.js';
import table from './attacks/rows.json';
import { headerNames } from './delivery-forms.js';
import { globalRunner, type TestRunner } from './test-runner.js';
import { chunked, exchange, Wire, type HeaderLines, type WireReply } from './wire.js';

/** The settings of the server under test, which answers at least `POST /`. */
type AdapterSetup = {
  readonly options: {
    readonly secret: string;
    readonly bodyLimit: number;
    readonly bodyTimeout: number;
    readonly handlerTimeout: number;
  };
  /** The merchant's handler for every configured kind. */
  readonly handler: (event: { readonly type: string; readonly reference: string }) => unknown;
};

/** A server with the adapter under test, on 127.0.0.1. */
type AdapterServer = {
  readonly port: number;
  close(): unknown;
};

type ListenAdapter = (setup: AdapterSetup) => Promise<AdapterServer> | AdapterServer;

const SECRET = 'a-secret-for-the-adapter-suite';
const BODY_LIMIT = 1_024;
const RECEIVED = '{"received":true}';

interface Serving {
  readonly port: number;
  /** The references that reached the handler. */
  readonly handled: readonly string[];
}

const sample = { secret: SECRET, reference: 'order-42', bodyLimit: BODY_LIMIT };
const material = materialOf({ ...sample, names: headerNames() });
const craft = craftOf(material, 'adapter.test', '/');
const { request, genuineLines } = craft;

/**
 * Registers the tests that every adapter must pass, over real sockets and with bytes that HTTP
 * clients would never send. Each group of attacks that an adapter must handle has one test.
 * More tests cover other behaviour.
 *
 * @param listen starts a server with the adapter, once per test
 * @param runner default: the globals `describe` and `it`
 * @throws TypeError if there is neither a runner nor these globals
 */
export function testAdapter(
  name: string,
  listen: ListenAdapter,
  runner: TestRunner = globalRunner('testAdapter'),
): void {
  runner.describe(name, () => {
    for (const [title, test] of [...rowTests(), ...Object.entries(tests)])
      runner.it(title, () => serve(listen, test));
  });
}

type Test = (serving: Serving) => Promise<void>;

/** Returns one test per row, with all deliveries of the row. */
function rowTests(): [title: string, test: Test][] {
  const sent = [
    ...attacks(sample).map((attack) => ({
      ...attack,
      bytes: () => request(Object.entries(attack.delivery.headers), attack.delivery.rawBody),
    })),
    ...rawAttacks.filter(({ byServer }) => byServer !== true),
  ];
  const rows = [...new Set(sent.map(({ id }) => id))].sort();
  return rows.map((row) => [
    `${row} ${table[row as keyof typeof table]}`,
    async ({ port, handled }) => {
      for (const { id, name, category, status, code, bytes } of sent) {
        if (id !== row) continue;
        const before = handled.length;
        const reply = await exchange(port, bytes(craft)).catch((error: unknown) =>
          assert.fail(`${name}: ${String(error)}`),
        );
        expectReply(reply, status, code === undefined ? RECEIVED : `{"error":"${code}"}`, name);
        if (category !== 'genuine')
          assert.equal(handled.length, before, `${name}: the handler must not run`);
      }
    },
  ]);
}

/** Runs one test. Afterwards the same server must accept a genuine delivery. */
async function serve(listen: ListenAdapter, test: Test): Promise<void> {
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
    await test({ port: server.port, handled });
    expectReply(await deliver(server.port, 'order-afterwards'), 200, RECEIVED);
    assert.equal(handled.at(-1), 'order-afterwards');
  } finally {
    await server.close();
  }
}

function deliver(port: number, reference: string): Promise<WireReply> {
  const body = Buffer.from(JSON.stringify({ reference }));
  return exchange(port, request(genuineLines(body), body));
}

function expectReply(reply: WireReply, status: number, body: string, message?: string): void {
  assert.deepEqual([reply.status, reply.body], [status, body], message);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
}

async function expectRefused(
  { port, handled }: Serving,
  bytes: Uint8Array,
  status: number,
  code: string,
): Promise<void> {
  expectReply(await exchange(port, bytes), status, `{"error":"${code}"}`);
  assert.deepEqual(handled, [], 'the handler must not run');
}

/** Returns the head of a request whose body does not follow. */
function head(length: number, lines: HeaderLines = genuineLines()): Buffer {
  return request(lines, Buffer.alloc(0), { framing: [['Content-Length', String(length)]] });
}

const tests: Readonly<Record<string, Test>> = {
  async 'acknowledges an unconfigured kind without calling the handler'({ port, handled }) {
    const [type, , signature] = genuineLines();
    const other = request(
      [type!, ['x-service-event', 'payment.refunded'], signature!],
      material.body,
    );
    expectReply(await exchange(port, other), 200, RECEIVED);
    assert.deepEqual(handled, []);
  },
  'answers 413 to a body without a declared length at the limit'(serving) {
    const endless = chunked(Buffer.alloc(2 * BODY_LIMIT, 'x')).subarray(0, -5);
    const bytes = request(genuineLines(), endless, { framing: [['Transfer-Encoding', 'chunked']] });
    return expectRefused(serving, bytes, 413, 'body_too_large');
  },
  'answers 401 to a malformed signature before the body arrives'(serving) {
    const lines: HeaderLines = [...genuineLines().slice(0, 2), ['x-service-signature', 'x']];
    return expectRefused(serving, head(100, lines), 401, 'invalid_signature');
  },
  'answers 408 if the body stops in the middle': (serving) =>
    expectRefused(serving, Buffer.concat([head(100), Buffer.from('{')]), 408, 'body_timeout'),
  async 'survives senders that disconnect in the middle of the body'({ port, handled }) {
    for (let time = 0; time < 10; time++) {
      const wire = await Wire.open(port);
      await wire.write(Buffer.concat([head(100), Buffer.from('{')]));
      wire.reset();
    }
    assert.deepEqual(handled, []);
  },
  async 'answers 500 without the message if the handler throws'({ port }) {
    const reply = await deliver(port, 'order-that-throws');
    assert.equal(reply.status, 500);
    assert.doesNotMatch(reply.body, /the handler threw/);
  },
  async 'answers 503 if the handler hangs'({ port }) {
    const reply = await deliver(port, 'order-that-hangs');
    expectReply(reply, 503, '{"error":"handler_timeout"}');
    assert.match(reply.headers.get('retry-after') ?? '', /^\d/);
  },
};
