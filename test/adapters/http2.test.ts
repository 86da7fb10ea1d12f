/** HTTP/2, on the hosts that support it. */
import { once } from 'node:events';
import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BODY, bodyOf, mac, PATH, REFERENCE, SECRET } from './deliveries.js';
import type { Host, HostOptions, Listening } from './hosts/host.js';
import type { MerchantEvent, Setup, Surroundings } from './hosts/host.js';
import { handlerHosts } from './hosts/index.js';
import { eventually, RECEIVED, within } from './serving.js';
import { expectNothingAmiss } from './watch.js';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly resetCode: number;
}

let listening: Listening;
let session: ClientHttp2Session;
let events: MerchantEvent[];
let errors: unknown[];

const genuine = { 'x-service-event': 'payment.succeeded', 'x-service-signature': mac(BODY) };

interface Circumstances {
  readonly options?: Partial<HostOptions>;
  readonly surroundings?: Surroundings;
  readonly handler?: Setup['handler'];
}

async function start(
  host: Host,
  { options, surroundings, handler }: Circumstances = {},
): Promise<void> {
  listening = await host.listen({
    options: { secret: SECRET, onError: (error) => errors.push(error), ...options },
    surroundings,
    http2: true,
    handler: (event, context) => {
      events.push(event);
      return event.reference === 'order-afterwards' ? undefined : handler?.(event, context);
    },
    onHostError: (error) => expect.unreachable(String(error)),
  });
  session = http2.connect(`http://127.0.0.1:${listening.port}`);
  await once(session, 'connect');
}

function open(headers: OutgoingHttpHeaders): ClientHttp2Stream {
  return session.request({ ':method': 'POST', ':path': PATH, ...headers }, { endStream: false });
}

async function answer(stream: ClientHttp2Stream): Promise<Answer> {
  let body = '';
  let headers: Answer['headers'] = {};
  stream.setEncoding('utf8');
  stream.on('response', (received) => (headers = received));
  stream.on('data', (text: string) => (body += text));
  // A reset after the reply is expected.
  stream.on('error', () => undefined);
  await within(3_000, 'the stream', new Promise((resolve) => stream.once('close', resolve)));
  return { status: Number(headers[':status']), headers, body, resetCode: stream.rstCode };
}

function post(
  headers: OutgoingHttpHeaders = genuine,
  body: string | Buffer = BODY,
): Promise<Answer> {
  const stream = open(headers);
  stream.end(body);
  return answer(stream);
}

function expectRefused(reply: Answer, status: number, code: string): void {
  expect([reply.status, reply.body]).toEqual([status, `{"error":"${code}"}`]);
  expect(reply.headers['content-type']).toBe('application/json');
  expect(reply.headers['connection']).toBeUndefined();
}

beforeEach(() => {
  events = [];
  errors = [];
});

afterEach(async () => {
  const body = Buffer.from('{"reference":"order-afterwards"}');
  const afterwards = await post({ ...genuine, 'x-service-signature': mac(body) }, body);
  try {
    expect([afterwards.status, afterwards.body]).toEqual([200, RECEIVED]);
    expect(events.at(-1)?.reference).toBe('order-afterwards');
  } finally {
    // An orderly close, which waits for every open stream.
    await within(
      2_000,
      'the end of the streams',
      new Promise<void>((resolve) => session.close(resolve)),
    ).finally(() => {
      session.destroy();
    });
    await within(2_000, 'the close of the server', listening.close());
  }
  expectNothingAmiss();
});

describe.each(handlerHosts.filter(({ capabilities }) => capabilities.http2))(
  '$name over HTTP/2',
  (host) => {
    it(
      'accepts a delivery with lower-case names and without a length',
      { tags: 'D22' },
      async () => {
        await start(host);
        const reply = await post();
        expect([reply.status, reply.body]).toEqual([200, RECEIVED]);
        expect(reply.headers['content-type']).toMatch(/^application\/json\b/);
        expect(events.map(({ reference }) => reference)).toEqual([REFERENCE]);
      },
    );

    it('accepts a body that comes in many frames', { tags: 'D22' }, async () => {
      await start(host);
      const body = bodyOf(60_000);
      const stream = open({ ...genuine, 'x-service-signature': mac(body) });
      for (let at = 0; at < body.length; at += 500) stream.write(body.subarray(at, at + 500));
      stream.end();
      expect((await answer(stream)).status).toBe(200);
      expect(Buffer.from(events[0]!.rawBody).equals(body)).toBe(true);
    });

    it.each([
      ['missing', { 'x-service-event': 'payment.succeeded' }],
      ['wrong', { ...genuine, 'x-service-signature': mac('another body') }],
      [
        'repeated with the right value',
        { ...genuine, 'x-service-signature': [mac(BODY), mac(BODY)] },
      ],
      [
        'repeated with a wrong value last',
        { ...genuine, 'x-service-signature': [mac(BODY), mac('another body')] },
      ],
    ])('rejects a signature that is %s', { tags: 'D22' }, async (_how, headers) => {
      await start(host);
      expectRefused(await post(headers), 401, 'invalid_signature');
      expect(events).toEqual([]);
    });

    it('refuses a repeated event header', { tags: 'D22' }, async () => {
      await start(host);
      const kind = 'payment.succeeded';
      expectRefused(
        await post({ ...genuine, 'x-service-event': [kind, kind] }),
        400,
        'invalid_event',
      );
      expect(events).toEqual([]);
    });

    it(
      'runs no handler if the stream is reset in the middle of the body',
      { tags: 'D22' },
      async () => {
        await start(host);
        for (let count = 0; count < 20; count++) {
          const stream = open(genuine);
          stream.on('error', () => undefined);
          stream.write(BODY.subarray(0, 5));
          await new Promise((resolve) => setTimeout(resolve, 5));
          stream.close(http2.constants.NGHTTP2_CANCEL);
          await within(
            2_000,
            'the close of the stream',
            new Promise((resolve) => stream.once('close', resolve)),
          );
        }
        expect([events, errors]).toEqual([[], []]);
      },
    );

    it('finishes the handler if the stream is reset', { tags: 'D22' }, async () => {
      let finished = false;
      await start(host, {
        handler: async () => {
          await new Promise((resolve) => setTimeout(resolve, 60));
          finished = true;
        },
      });
      const stream = open(genuine);
      stream.on('error', () => undefined);
      stream.end(BODY);
      await eventually('the handler', () => events.length === 1);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await eventually('the end of the handler', () => finished);
      expect(errors).toEqual([]);
    });

    it(
      'answers before the end of the body and resets the stream, but not the connection',
      { tags: 'D22' },
      async () => {
        await start(host, { options: { bodyTimeout: 150 } });
        const early = async (
          headers: OutgoingHttpHeaders,
          status: number,
          code: string,
        ): Promise<void> => {
          const reply = await answer(open(headers));
          expectRefused(reply, status, code);
          expect(reply.resetCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
        };
        await Promise.all([
          early({ ...genuine, 'content-length': '70000' }, 413, 'body_too_large'),
          early({ ...genuine, 'x-service-signature': 'short' }, 401, 'invalid_signature'),
          early({ ...genuine, 'content-encoding': 'gzip' }, 415, 'unsupported_encoding'),
          early(genuine, 408, 'body_timeout'),
        ]);
        expect(session.destroyed).toBe(false);
        expect(events).toEqual([]);
      },
    );

    it(
      'stops a body without a declared length at the limit',
      { tags: ['D02', 'D22'] },
      async () => {
        await start(host);
        const stream = open(genuine);
        stream.write(bodyOf(65_537));
        expectRefused(await answer(stream), 413, 'body_too_large');
        expect(events).toEqual([]);
      },
    );

    it(
      'answers 405 to GET, or 404 by the router of the host',
      { tags: ['D18', 'D22'] },
      async () => {
        const ours = host.capabilities.surroundings.includes('every method');
        await start(host, ours ? { surroundings: 'every method' } : {});
        const reply = await answer(
          session.request({ ':method': 'GET', ':path': PATH, ...genuine }),
        );
        expect(events).toEqual([]);
        if (!ours) {
          expect(reply.status).toBe(404);
          return;
        }
        expectRefused(reply, 405, 'method_not_allowed');
        expect(reply.headers['allow']).toBe('POST');
      },
    );
  },
);
