import { once } from 'node:events';
import {
  createServer,
  ServerResponse,
  type IncomingMessage,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { Reply } from '@paylink/core';
import { closeWires, exchange, requestBytes } from '../../testing/src/wire.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { writeReply } from '../src/index.js';

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

const BODY = Buffer.from('some bytes');
const reply = (status: number): Reply => ({
  status,
  headers: { 'x-reply': 'ours' },
  body: '{"é":1}',
});
const LENGTH = String(Buffer.byteLength('{"é":1}'));

let close: () => void;
afterEach(() => {
  vi.useRealTimers();
  closeWires();
  close();
});

async function listen(listener: Listener, options: ServerOptions = {}): Promise<number> {
  const server: Server = createServer(options, (req, res) => void listener(req, res)).listen(
    0,
    '127.0.0.1',
  );
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const HOST = ['Host', 'shop.example'] as const;
const post = (declared = BODY.length): Buffer =>
  requestBytes([HOST, ['Content-Length', String(declared)]], BODY);

it.each([
  ['whole', 200],
  ['still coming', 413],
])('has no body for HEAD if the server refuses one and the request is %s', async (_how, status) => {
  const options = { rejectNonStandardBodyWrites: true };
  const port = await listen((req, res) => writeReply(req, res, reply(status)), options);
  const declared = status === 413 ? [['Content-Length', '10'] as const] : [];
  const head = requestBytes([HOST, ...declared], Buffer.alloc(0), { method: 'HEAD' });
  const { headers, ...received } = await exchange(port, head);
  expect(received).toMatchObject({ status, body: '' });
  expect(headers.get('content-length')).toBe(LENGTH);
});

describe('a reply before the end of the body', () => {
  it('closes the connection if a wrapped `end` throws', async () => {
    const port = await listen((req, res) => {
      res.end = (text?: unknown) => {
        throw new TypeError(`${(text as string).length}`);
      };
      void writeReply(req, res, reply(413));
    });
    const { wire, body } = await exchange(port, post(BODY.length + 1));
    expect(body).toBe('{"é":1}');
    await wire.send(Buffer.from('n'));
    await wire.closed();
  });

  it.each<readonly [string, (req: PassThrough) => unknown]>([
    ['ends', (req) => req.end()],
    ['closes', (req) => req.destroy()],
    ['fails', (req) => req.destroy(new Error('reset by peer'))],
  ])(
    'ends the reply when the request %s, even if another layer made the request',
    async (how, leave) => {
      close = () => undefined;
      // Each of the three without the others.
      const stream = new PassThrough({ autoDestroy: false, emitClose: how === 'closes' });
      const req = Object.assign(stream, {
        httpVersionMajor: 1,
        headers: { 'content-length': '10' },
      }) as unknown as IncomingMessage;
      const res = new ServerResponse(req);
      void writeReply(req, res, reply(413));
      expect(res.writableEnded).toBe(false);
      leave(stream);
      await turn();
      expect(res.writableEnded).toBe(true);
    },
  );
});

describe('a request whose host has no `complete`', () => {
  async function connectionAfter(
    lines: [string, string][],
    body: Buffer,
    prepare?: (req: IncomingMessage) => Promise<unknown>,
  ) {
    const port = await listen((req, res) => {
      void Promise.resolve(prepare?.(req)).then(() => {
        Object.defineProperty(req, 'complete', { value: undefined });
        void writeReply(req, res, reply(400));
      });
    });
    return (await exchange(port, requestBytes([HOST, ...lines], body))).headers.get('connection');
  }
  const none = Buffer.alloc(0);

  it.each([
    ['has no body', [], none, 'keep-alive'],
    ['declares an empty body', [['Content-Length', '0']], none, 'keep-alive'],
    ['declares a body', [['Content-Length', '10']], BODY, 'close'],
    ['has a body in chunks', [['Transfer-Encoding', 'chunked']], Buffer.from('0\r\n\r\n'), 'close'],
  ])('keeps or closes the connection if it %s', async (_what, lines, body, expected) => {
    expect(await connectionAfter(lines as [string, string][], body)).toBe(expected);
  });

  it('keeps the connection if its body was read to the end', async () => {
    const lines: [string, string][] = [['Content-Length', '10']];
    expect(await connectionAfter(lines, BODY, (req) => once(req.resume(), 'end'))).toBe(
      'keep-alive',
    );
  });
});

describe('a response that other code has begun', () => {
  it('cuts off a begun response, which would stay open', async () => {
    const port = await listen((req, res) => {
      res.write('a piece');
      void writeReply(req, res, reply(200));
    });
    const response = fetch(`http://127.0.0.1:${port}`).then((begun) => begun.text());
    await expect(response).rejects.toThrow();
  });

  it(
    'closes the socket if other code makes the response throw, and never rejects',
    { tags: 'P13' },
    async () => {
      const port = await listen((req, res) => {
        res.writeHead = () => {
          throw new Error('a listener of the headers failed');
        };
        void writeReply(req, res, reply(500));
      });
      await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    },
  );

  it(
    'replies although other code has set a status text that Node refuses',
    { tags: 'O09' },
    async () => {
      const port = await listen((req, res) => {
        res.statusMessage = 'a\nb';
        void writeReply(req, res, reply(500));
      });
      expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(500);
    },
  );

  it('leaves a response alone if it ended before the delivery failed', async () => {
    let isDestroyed = true;
    const port = await listen((req, res) => {
      res.end('done');
      void writeReply(req, res, reply(500));
      isDestroyed = res.destroyed;
    });
    const response = await fetch(`http://127.0.0.1:${port}`);
    expect([response.status, await response.text(), isDestroyed]).toEqual([200, 'done', false]);
  });
});
