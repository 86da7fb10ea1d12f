import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readBody } from '../src/read-body.js';
import { received } from './received.js';

const HINT = 'Move the webhook up.';
const BODY = Buffer.from('the signed bytes');
const limits = { bodyLimit: 100, bodyTimeout: 10_000 };

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function requestOf(rawBody: Buffer = BODY, headers: Record<string, string> = {}): IncomingMessage {
  return received({ headers, rawBody });
}

/** Of which only the headers have come. */
function unfinished(headers: Record<string, string> = {}): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers });
}

/** A request that a layer in front of Node made of a stream. */
function requestFrom(stream: Readable, headers: Record<string, string> = {}): IncomingMessage {
  return Object.assign(stream, { headers }) as unknown as IncomingMessage;
}

async function read(req: IncomingMessage): Promise<string> {
  return Buffer.from(await readBody(req, limits, HINT)).toString();
}

function refusal(code: string, message: RegExp | string = ''): unknown {
  return expect.objectContaining({ code, message: expect.stringMatching(message) as string });
}

describe('a body that came with its headers', () => {
  it('ends its stream, so that nothing is left to drain after the reply', async () => {
    const req = requestOf();
    await read(req);
    expect(req.readableEnded).toBe(true);
  });

  it('reads a body whole if its stream ends later than the message', async () => {
    const req = unfinished();
    req.push(BODY);
    req.complete = true;
    const reading = read(req);
    await turn();
    req.push(null);
    expect(await reading).toBe(BODY.toString());
  });

  it('reads a body that a layer in front of Node gives only on demand', async () => {
    const req = unfinished({ 'content-length': String(BODY.length) });
    req.complete = true;
    req._read = () => {
      req.push(BODY);
      req.push(null);
    };
    expect(await read(req)).toBe(BODY.toString());
  });
});

describe('a body that is still arriving', () => {
  it('reads no encoding from a polluted Object.prototype', { tags: 'R04' }, async () => {
    const req = requestOf();
    Object.defineProperty(Object.prototype, 'encoding', { value: 'utf8', configurable: true });
    const reading = read(req);
    Reflect.deleteProperty(Object.prototype, 'encoding');
    expect(await reading).toBe(BODY.toString());
  });

  it('reads a body from a stream of texts', async () => {
    expect(await read(requestFrom(Readable.from(['the signed ', 'é ✓'])))).toBe('the signed é ✓');
  });

  it.each([[42], [{ length: 1e9 }], [[1]], [new DataView(new ArrayBuffer(1))]])(
    'refuses a stream that gives neither bytes nor text: %j',
    async (piece) => {
      const stream = Readable.from([piece], { objectMode: true });
      await expect(read(requestFrom(stream))).rejects.toEqual(refusal('incomplete_body'));
    },
  );

  it.each([-1, 1])(
    'reports an incomplete body if it is %i bytes longer than declared',
    async (more) => {
      const stream = new PassThrough();
      stream.end(BODY);
      const req = requestFrom(stream, { 'content-length': String(BODY.length - more) });
      await expect(read(req)).rejects.toEqual(refusal('incomplete_body', /a hook or a proxy/));
    },
  );

  it('ends a body in pieces by one time limit, which no piece begins again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stream = new PassThrough();
    const body = read(requestFrom(stream));
    let isOver = false;
    const ended = body.catch((error: unknown) => {
      isOver = true;
      return error;
    });
    for (let sent = 0; sent < 5; sent++) {
      await turn();
      expect(isOver).toBe(false);
      stream.write('n');
      await vi.advanceTimersByTimeAsync(limits.bodyTimeout / 5);
    }
    await turn();
    expect(isOver).toBe(true);
    expect(await ended).toEqual(refusal('body_timeout'));
  });

  it('leaves the rest of an upload in its stream once the body is refused', async () => {
    const stream = new PassThrough();
    const body = read(requestFrom(stream));
    await turn();
    stream.write(Buffer.alloc(limits.bodyLimit + 1));
    await expect(body).rejects.toEqual(refusal('body_too_large'));
    expect([stream.listenerCount('data'), stream.listenerCount('end')]).toEqual([0, 0]);
    stream.write(Buffer.alloc(50));
    await turn();
    expect(stream.readableLength).toBe(50);
  });

  it('leaves no timer behind when the body is complete', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stream = new PassThrough();
    const body = read(requestFrom(stream));
    await turn();
    expect(vi.getTimerCount()).toBe(1);
    stream.end(BODY);
    expect(await body).toBe(BODY.toString());
    await read(requestOf());
    await turn();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('accepts a body whose stream closes as it ends', async () => {
    const stream = new PassThrough();
    stream.once('end', () => stream.emit('close'));
    const body = read(requestFrom(stream));
    await turn();
    stream.end(BODY);
    expect(await body).toBe(BODY.toString());
  });

  it('gives up a body at once if its sender left before the reading', async () => {
    const stream = new PassThrough().destroy();
    await once(stream, 'close');
    await expect(read(requestFrom(stream))).rejects.toEqual(refusal('incomplete_body'));
  });

  it.each([
    ['closes without an end', undefined],
    ['fails', new Error('reset by peer')],
  ])(
    'gives up a body at once when its stream %s, even if it fails once more',
    async (_how, error) => {
      const stream = new PassThrough();
      const body = read(requestFrom(stream));
      await turn();
      stream.destroy(error);
      await expect(body).rejects.toEqual(refusal('incomplete_body'));
      expect(stream.emit('error', new Error('once more'))).toBe(true);
    },
  );
});

describe('bytes that a host kept', () => {
  it('come from req.rawBody, even if the request was read, and its stream is not touched', async () => {
    const req = Object.assign(requestOf(Buffer.alloc(0)), { rawBody: BODY });
    await once(req.resume(), 'end');
    expect(await read(req)).toBe(BODY.toString());
    const unread = Object.assign(requestOf(), { rawBody: BODY });
    const reads = vi.spyOn(unread, 'read');
    expect(await read(unread)).toBe(BODY.toString());
    expect(reads).not.toHaveBeenCalled();
  });

  it('come from req.body if the request was read, and only then', async () => {
    const req = Object.assign(requestOf(), { body: Buffer.from('of a parser') });
    expect(await read(req)).toBe(BODY.toString());
    const parsed = Object.assign(requestOf(), { body: Buffer.from('of a parser') });
    await once(parsed.resume(), 'end');
    expect(await read(parsed)).toBe('of a parser');
  });

  it(
    'serve one webhook alone, so that a second one cannot credit again',
    { tags: 'F21' },
    async () => {
      const req = Object.assign(requestOf(), { rawBody: Buffer.from('of a parser') });
      expect(await read(req)).toBe('of a parser');
      const twice = /^another paymentWebhook read this request/;
      await expect(read(req)).rejects.toEqual(refusal('body_consumed', twice));
    },
  );

  it('never come from a text', async () => {
    expect(await read(Object.assign(requestOf(), { rawBody: 'a text', body: 'a text' }))).toBe(
      BODY.toString(),
    );
  });
});

describe('a body that something read first', () => {
  it.each([
    ['a listener', {}, /^a `data` listener or another reader \(tracing, a request logger\) read/],
    ['a parser', { body: {} }, /^a parser read the body first and left no bytes in req\.body, so/],
  ])(
    'refuses a consumed body with the cause and the hint of the host: %s',
    async (_what, left, cause) => {
      const req = Object.assign(requestOf(), left);
      await once(req.resume(), 'end');
      await expect(read(req)).rejects.toEqual(refusal('body_consumed', cause));
      await expect(read(req)).rejects.toEqual(
        refusal('body_consumed', /\. Move the webhook up\.$/),
      );
    },
  );

  it('calls no getter of the body, which would parse unverified bytes', async () => {
    const getter = vi.fn(() => ({}));
    const req = Object.defineProperty(requestOf(), 'body', { get: getter });
    await once(req.resume(), 'end');
    await expect(read(req)).rejects.toEqual(refusal('body_consumed'));
    expect(getter).not.toHaveBeenCalled();
  });

  it('names setEncoding if another reader took the body as text', async () => {
    const cause = /^setEncoding\(\) turned the body into text.*Move the webhook up\.$/;
    await expect(read(requestOf().setEncoding('utf8'))).rejects.toEqual(
      refusal('body_consumed', cause),
    );
  });

  it('refuses a body that was read in part', async () => {
    const req = requestOf();
    req.read(3);
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', HINT));
  });

  it('refuses a body that another webhook reads, and leaves it to the first webhook', async () => {
    const req = requestOf();
    const first = read(req);
    const cause = /^another paymentWebhook read this request/;
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', cause));
    expect(await first).toBe(BODY.toString());
  });

  it('refuses a body that a webhook of another copy of this module reads', async () => {
    vi.resetModules();
    const another = await import('../src/read-body.js');
    expect(another.readBody).not.toBe(readBody);
    const req = requestOf();
    const first = another.readBody(req, limits, HINT);
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', /^another paymentWebhook/));
    expect(Buffer.from(await first)).toEqual(BODY);
  });
});

describe('other listeners in front', { tags: 'O11' }, () => {
  it.each<[string, (req: IncomingMessage) => unknown]>([
    ['a `data` listener', (req) => req.on('data', () => undefined)],
    ['a `readable` listener that reads nothing', (req) => req.on('readable', () => undefined)],
    ['a `readable` listener that reads', (req) => req.on('readable', () => void req.read())],
    [
      'a `readable` listener that reads single bytes',
      (req) =>
        req.on('readable', () => {
          while (req.read(1) !== null);
        }),
    ],
    ['a pause', (req) => req.pause()],
  ])('do not cost the body: %s', async (_what, listen) => {
    const req = unfinished({ 'content-length': String(BODY.length) });
    listen(req);
    const body = read(req);
    await turn();
    req.push(BODY.subarray(0, 5));
    await turn();
    req.push(BODY.subarray(5));
    req.push(null);
    expect(await body).toBe(BODY.toString());
  });

  it('get every byte too', async () => {
    const seen: Buffer[] = [];
    const req = requestOf().on('data', (piece: Buffer) => seen.push(piece));
    await read(req);
    expect(Buffer.concat(seen)).toEqual(BODY);
  });

  it('are named if a `readable` listener took the body in an earlier turn', async () => {
    const req = requestOf();
    req.on('readable', () => void req.read());
    await turn();
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', /`data` listener or another/));
  });

  it('get the bytes that a `readable` listener in front left in the stream', async () => {
    const req = requestOf();
    req.on('readable', () => undefined);
    await turn();
    expect(await read(req)).toBe(BODY.toString());
  });
});

it(
  'reads all pieces that lie in the stream if a call of `read` gives only one',
  { tags: 'R01' },
  async () => {
    const req = unfinished();
    // Node 26 does this, and emits `readable` once.
    const readAll = req.read.bind(req) as (size?: number) => unknown;
    req.read = (size) => readAll(size ?? (req.readableLength > 0 ? 1 : undefined));
    req.push(BODY);
    req.push(null);
    await turn();
    expect(await read(req)).toBe(BODY.toString());
  },
);

it('keeps a body in pieces of one byte in a few buffers', async () => {
  const req = unfinished();
  const concat = vi.spyOn(Buffer, 'concat');
  const reading = readBody(req, { ...limits, bodyLimit: 2_000 }, HINT);
  for (let index = 0; index < 1_024; index++) {
    req.push(Buffer.of(97));
    await turn();
  }
  req.push(null);
  expect((await reading).toString()).toBe('a'.repeat(1_024));
  expect(concat.mock.lastCall![0]).toHaveLength(4);
});
