import { once } from 'node:events';
import {
  createServer,
  ServerResponse,
  type IncomingMessage,
  type Server,
  type ServerOptions,
} from 'node:http';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { Reply } from '@paylink/core';
import { begin, closeWires, exchange, requestBytes, type Wire } from '../../testing/src/wire.js';
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

/** A listener that replies a turn after it read the body, as a handler that waits does. */
function afterReading(status: number): Listener {
  return (req, res) => {
    req.resume().on('end', () => {
      setImmediate(() => void writeReply(req, res, reply(status)));
    });
  };
}

const HOST = ['Host', 'shop.example'] as const;
const post = (declared = BODY.length): Buffer =>
  requestBytes([HOST, ['Content-Length', String(declared)]], BODY);

describe('a reply to a body that was read', () => {
  it.each([200, 400, 503])('of %i keeps the connection for the next delivery', async (status) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const wire = await begin(await listen(afterReading(status)), post());
    for (let time = 0; time < 2; time++) {
      const { status: got, headers, body } = await wire.reply();
      expect([got, body, headers.get('x-reply'), headers.get('content-length')]).toEqual([
        status,
        '{"é":1}',
        'ours',
        LENGTH,
      ]);
      expect(headers.get('connection')).not.toBe('close');
      if (time === 0) await wire.send(post());
    }
  });

  it.each([
    ['whole', 200],
    ['still coming', 413],
  ])(
    'to HEAD has no body if the server refuses one and the request is %s',
    async (_request, status) => {
      const port = await listen((req, res) => writeReply(req, res, reply(status)), {
        rejectNonStandardBodyWrites: true,
      });
      const declared = status === 413 ? [['Content-Length', '10'] as const] : [];
      const received = await exchange(
        port,
        requestBytes([HOST, ...declared], Buffer.alloc(0), { method: 'HEAD' }),
      );
      expect([received.status, received.body, received.headers.get('content-length')]).toEqual([
        status,
        '',
        LENGTH,
      ]);
    },
  );

  it('of 401 ends the connection', async () => {
    const { headers, wire } = await exchange(await listen(afterReading(401)), post());
    expect(headers.get('connection')).toBe('close');
    await wire.closed();
  });
});

describe('the promise of a reply', () => {
  it('settles when the whole reply is written', async () => {
    const settled: boolean[] = [];
    const port = await listen((req, res) => {
      void writeReply(req, res, reply(413)).then(() => settled.push(res.writableEnded));
    });
    const { wire } = await exchange(port, post(BODY.length + 1));
    expect(settled).toEqual([]);
    await wire.send(Buffer.from('n'));
    await wire.closed();
    expect(settled).toEqual([true]);
  });
});

describe('a reply before the end of the body', () => {
  const early: Listener = (req, res) => {
    void writeReply(req, res, reply(413));
  };

  async function refused(declared: number): Promise<Wire> {
    const { status, headers, body, wire } = await exchange(await listen(early), post(declared));
    expect([status, body, headers.get('connection')]).toEqual([413, '{"é":1}', 'close']);
    return wire;
  }

  it('comes at once, and the connection ends when the body does', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const wire = await refused(BODY.length + 1);
    expect(wire.ending).toBeUndefined();
    await wire.send(Buffer.from('n'));
    expect(await wire.closed()).toBe('FIN');
  });

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

  it('ends the connection a second later if the body does not end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const wire = await refused(BODY.length + 1);
    vi.advanceTimersByTime(1_000);
    expect(await wire.closed()).toBe('FIN');
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
  it.each([200, 400, 500])(
    'cuts off a begun response, which would stay open, also for %i',
    async (status) => {
      const port = await listen((req, res) => {
        res.write('a piece');
        void writeReply(req, res, reply(status));
      });
      const response = fetch(`http://127.0.0.1:${port}`).then((begun) => begun.text());
      await expect(response).rejects.toThrow();
    },
  );

  it('P13 closes the socket if other code makes the response throw, and never rejects', async () => {
    const port = await listen((req, res) => {
      res.writeHead = () => {
        throw new Error('a listener of the headers failed');
      };
      void writeReply(req, res, reply(500));
    });
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  });

  it('O09 replies although other code has set a status text that Node refuses', async () => {
    const port = await listen((req, res) => {
      res.statusMessage = 'a\nb';
      void writeReply(req, res, reply(500));
    });
    expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(500);
  });

  it('leaves a response alone if it ended before the delivery failed', async () => {
    // More than the socket takes at once, so that a part is still to be sent.
    const page = 'done'.repeat(2_000_000);
    const port = await listen((req, res) => {
      res.end(page);
      void writeReply(req, res, reply(500));
    });
    const response = await fetch(`http://127.0.0.1:${port}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toHaveLength(page.length);
  });
});

describe('a reply over HTTP/2', () => {
  type Reading = 'nothing' | 'a piece' | 'all';

  async function exchangeOver(headers: Record<string, string>, status: number, reading: Reading) {
    const server = http2.createServer((req, res) => {
      const write = (): void => {
        void writeReply(
          req as unknown as IncomingMessage,
          res as unknown as ServerResponse,
          reply(status),
        );
      };
      if (reading === 'nothing') write();
      else if (reading === 'a piece') req.once('data', write);
      else req.resume().on('end', write);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    close = () => {
      session.destroy();
      server.close();
    };
    const stream = session.request({ ':method': 'POST', ...headers }, { endStream: false });
    if (reading === 'all') stream.end(BODY);
    else stream.write(BODY.subarray(1));
    const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    let body = '';
    stream.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    await once(stream, 'close');
    return {
      status: received[':status'],
      connection: received.connection,
      body,
      code: stream.rstCode,
    };
  }
  const whole = (status: number) => ({
    status,
    connection: undefined,
    body: '{"é":1}',
    code: http2.constants.NGHTTP2_NO_ERROR,
  });

  it.each<readonly [Reading, Record<string, string>]>([
    ['nothing', {}],
    ['nothing', { 'content-length': '10' }],
    ['a piece', {}],
    ['a piece', { 'content-length': '10' }],
  ])(
    'sends a whole reply, and resets the stream, if %s of the body was read (%j)',
    async (reading, headers) => {
      expect(await exchangeOver(headers, 413, reading)).toEqual(whole(413));
    },
  );

  it.each([200, 401])(
    'of %i after the end of the body has no header for the connection',
    async (status) => {
      expect(await exchangeOver({}, status, 'all')).toEqual(whole(status));
    },
  );
});
