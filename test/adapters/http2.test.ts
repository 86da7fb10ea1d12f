/** HTTP/2, on the hosts that support it. */
import { once } from 'node:events';
import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { describe, expect, it } from 'vitest';
import { BODY, bodyOf, mac, PATH, REFERENCE } from './deliveries.js';
import type { Host } from './hosts/host.js';
import { newestHosts } from './hosts/index.js';
import { eventually, RECEIVED, references, serve, within } from './serving.js';
import type { Circumstances, Serving } from './serving.js';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly resetCode: number;
}

let session: ClientHttp2Session;

const genuine = { 'x-service-event': 'payment.succeeded', 'x-service-signature': mac(BODY) };

/** Serves the host, and connects to it. */
async function start(host: Host, circumstances: Circumstances = {}): Promise<Serving> {
  const serving = await serve(host, { ...circumstances, overHttp2: deliverAfterwards });
  session = http2.connect(`http://127.0.0.1:${serving.port}`);
  await once(session, 'connect');
  return serving;
}

/** Delivers on the session of the test, and closes it in an orderly way. */
async function deliverAfterwards(body: Buffer): Promise<Answer> {
  const reply = await post({ ...genuine, 'x-service-signature': mac(body) }, body);
  const closing = new Promise<void>((resolve) => session.close(resolve));
  await within(2_000, 'the end of the streams', closing).finally(() => session.destroy());
  return reply;
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

describe.each(newestHosts.filter(({ capabilities }) => capabilities.http2))(
  '$name over HTTP/2',
  (host) => {
    it(
      'accepts a delivery with lower-case names and without a length',
      { tags: 'D22' },
      async () => {
        const serving = await start(host);
        const reply = await post();
        expect([reply.status, reply.body]).toEqual([200, RECEIVED]);
        expect(reply.headers['content-type']).toMatch(/^application\/json\b/);
        expect(references(serving)).toEqual([REFERENCE]);
      },
    );

    it('accepts a body that comes in many frames', { tags: 'D22' }, async () => {
      const serving = await start(host);
      const body = bodyOf(60_000);
      const stream = open({ ...genuine, 'x-service-signature': mac(body) });
      for (let at = 0; at < body.length; at += 500) stream.write(body.subarray(at, at + 500));
      stream.end();
      expect((await answer(stream)).status).toBe(200);
      expect(Buffer.from(serving.events[0]!.rawBody).equals(body)).toBe(true);
    });

    it('refuses a missing, a wrong and a repeated header', { tags: 'D22' }, async () => {
      const serving = await start(host);
      const [kind, right, wrong] = ['payment.succeeded', mac(BODY), mac('another body')];
      for (const signature of [[], wrong, [right, right], [right, wrong]]) {
        const headers = { 'x-service-event': kind, 'x-service-signature': signature };
        expectRefused(await post(headers), 401, 'invalid_signature');
      }
      const repeated = { ...genuine, 'x-service-event': [kind, kind] };
      expectRefused(await post(repeated), 400, 'invalid_event');
      expect(serving.events).toEqual([]);
    });

    it(
      'runs no handler if the stream is reset in the middle of the body',
      { tags: 'D22' },
      async () => {
        const serving = await start(host);
        for (let count = 0; count < 5; count++) {
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
        expect([serving.events, serving.errors]).toEqual([[], []]);
      },
    );

    it('finishes the handler if the stream is reset', { tags: 'D22' }, async () => {
      let finished = false;
      const serving = await start(host, {
        handler: async () => {
          await new Promise((resolve) => setTimeout(resolve, 60));
          finished = true;
        },
      });
      const stream = open(genuine);
      stream.on('error', () => undefined);
      stream.end(BODY);
      await eventually('the handler', () => serving.events.length === 1);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await eventually('the end of the handler', () => finished);
      expect(serving.errors).toEqual([]);
    });

    it(
      'answers before the end of the body and resets the stream, but not the connection',
      { tags: 'D22' },
      async () => {
        const serving = await start(host, { options: { bodyTimeout: 150 } });
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
        expect(serving.events).toEqual([]);
      },
    );

    it(
      'stops a body without a declared length at the limit',
      { tags: ['D02', 'D22'] },
      async () => {
        const serving = await start(host);
        const stream = open(genuine);
        stream.write(bodyOf(65_537));
        expectRefused(await answer(stream), 413, 'body_too_large');
        expect(serving.events).toEqual([]);
      },
    );

    it(
      'answers 405 to GET, or 404 by the router of the host',
      { tags: ['D18', 'D22'] },
      async () => {
        const ours = host.capabilities.surroundings.includes('every method');
        const serving = await start(host, ours ? { surroundings: 'every method' } : {});
        const reply = await answer(
          session.request({ ':method': 'GET', ':path': PATH, ...genuine }),
        );
        expect(serving.events).toEqual([]);
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
