import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough, Readable, Stream } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isClaimed, readBody } from '../src/read-body.js';
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

function read(req: IncomingMessage, stream: Readable = req, bodyLimit = limits.bodyLimit): Promise<string> {
  return readBody(req, stream, { ...limits, bodyLimit }, HINT).then((body) => Buffer.from(body).toString());
}

function refusal(code: string, message: RegExp | string = ''): unknown {
  return expect.objectContaining({ code, message: expect.stringMatching(message) as string });
}

describe('a body that has come with its headers', () => {
  it('is read at the next turn of the event loop, without a time limit of its own', async () => {
    const setting = vi.spyOn(globalThis, 'setTimeout');
    expect(await Promise.all([read(requestOf()), read(requestOf())])).toEqual([BODY.toString(), BODY.toString()]);
    expect(await read(requestOf())).toBe(BODY.toString());
    expect(setting).not.toHaveBeenCalled();
  });

  it('is read whole where it came in pieces', async () => {
    const req = unfinished();
    for (const piece of ['the ', 'signed ', 'bytes', null]) req.push(piece === null ? null : Buffer.from(piece));
    req.complete = true;
    expect(await read(req)).toBe('the signed bytes');
  });

  it('ends its stream, so that nothing is left to drain after the reply', async () => {
    const req = requestOf();
    await read(req);
    await turn();
    expect(req.readableEnded).toBe(true);
    expect(req.listenerCount('end')).toBe(0);
  });

  it('is read whole where its stream ends later than the message', async () => {
    const req = unfinished();
    req.push(BODY);
    req.complete = true;
    const reading = read(req);
    await turn();
    req.push(null);
    expect(await reading).toBe(BODY.toString());
  });

  it('is read where a layer in front of Node gives it only when it is asked for', async () => {
    const req = unfinished({ 'content-length': String(BODY.length) });
    req.complete = true;
    req._read = () => {
      req.push(BODY);
      req.push(null);
    };
    expect(await read(req)).toBe(BODY.toString());
  });

  it('may be empty', async () => {
    expect(await read(requestOf(Buffer.alloc(0)))).toBe('');
  });

  it('may be as long as the limit, and not longer', async () => {
    expect(await read(requestOf(), undefined, BODY.length)).toBe(BODY.toString());
    await expect(read(requestOf(), undefined, BODY.length - 1)).rejects.toEqual(refusal('body_too_large'));
  });

  it('is not read where its sender broke off, or middleware has destroyed it', async () => {
    const req = requestOf();
    req.destroy();
    await expect(read(req)).rejects.toEqual(refusal('incomplete_body'));
  });
});

describe('a body that is still arriving', () => {
  it('is waited for', async () => {
    const req = unfinished({ 'content-length': String(BODY.length) });
    req.push(BODY.subarray(0, 5));
    const body = read(req);
    await turn();
    await turn();
    req.push(BODY.subarray(5));
    req.push(null);
    expect(await body).toBe(BODY.toString());
  });

  it('is read from the stream that a hook has put around the request, though the request is complete', async () => {
    const req = requestOf(Buffer.from('what the hook took'));
    const stream = new PassThrough();
    stream.end('what the hook hands on');
    expect(await read(req, stream)).toBe('what the hook hands on');
  });

  it('takes no more memory than was declared, in blocks, however small its pieces are', async () => {
    const blocks = vi.spyOn(Buffer, 'allocUnsafeSlow');
    const stream = new PassThrough();
    const body = read(unfinished({ 'content-length': '5000' }), stream, 60_000);
    await turn();
    for (let count = 0; count < 50; count += 1) stream.write(Buffer.alloc(100, 'x'));
    stream.end();
    expect(await body).toBe('x'.repeat(5_000));
    expect(blocks.mock.calls).toEqual([[4_096], [904]]);
  });

  it('is read from a stream of texts', async () => {
    expect(await read(unfinished(), Readable.from(['the signed ', 'bytes']))).toBe(BODY.toString());
  });

  it.each([[42], [{ length: 1e9 }], [[1]]])('is refused where its stream gives something else: %j', async (piece) => {
    await expect(read(unfinished(), Readable.from([piece]))).rejects.toEqual(refusal('incomplete_body'));
  });

  it('is read from a stream of the oldest kind, which can neither be paused nor resumed, and is refused there', async () => {
    const old = (): Readable => new Stream() as unknown as Readable;
    const [good, long] = [old(), old()];
    const bodies = [read(unfinished(), good), read(unfinished(), long)];
    await turn();
    good.emit('data', BODY);
    good.emit('end');
    expect(await bodies[0]).toBe(BODY.toString());
    long.emit('data', Buffer.alloc(limits.bodyLimit + 1));
    await expect(bodies[1]).rejects.toEqual(refusal('body_too_large'));
  });

  it('is over at once where a stream of an older package has told its end before', async () => {
    const stream = Object.assign(new Stream(), { _readableState: { endEmitted: true } });
    expect(await read(unfinished(), stream as unknown as Readable)).toBe('');
  });

  it('is read where middleware has paused it', async () => {
    const stream = new PassThrough();
    stream.pause();
    stream.end(BODY);
    expect(await read(unfinished(), stream)).toBe(BODY.toString());
  });

  it('is read no further once it is refused', async () => {
    const stream = new PassThrough();
    const body = read(unfinished(), stream);
    await turn();
    stream.write(Buffer.alloc(limits.bodyLimit + 1));
    await expect(body).rejects.toEqual(refusal('body_too_large'));
    expect([stream.isPaused(), stream.listenerCount('data'), stream.listenerCount('end')]).toEqual([true, 0, 0]);
  });

  it('ends at the limit, before its own end', async () => {
    const stream = new PassThrough();
    stream.write(Buffer.alloc(limits.bodyLimit));
    const body = read(unfinished(), stream);
    await turn();
    stream.write('n');
    await expect(body).rejects.toEqual(refusal('body_too_large'));
  });

  it.each([-1, 1])('is refused where it is %i bytes longer than was declared', async (more) => {
    const stream = new PassThrough();
    stream.end(BODY);
    const req = unfinished({ 'content-length': String(BODY.length - more) });
    await expect(read(req, stream)).rejects.toEqual(refusal('incomplete_body'));
  });

  it('is given up when the time limit has passed, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const settled = vi.fn();
    const body = read(unfinished(), new PassThrough()).finally(settled);
    body.catch(() => undefined);
    await turn();
    vi.advanceTimersByTime(limits.bodyTimeout - 1);
    await turn();
    expect(settled).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await expect(body).rejects.toEqual(refusal('body_timeout'));
  });

  it('leaves no timer behind once it is there', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stream = new PassThrough();
    const body = read(unfinished(), stream);
    await turn();
    expect(vi.getTimerCount()).toBe(1);
    stream.end(BODY);
    expect(await body).toBe(BODY.toString());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is there also where its stream closes as it ends', async () => {
    const stream = new PassThrough();
    stream.once('end', () => stream.emit('close'));
    const body = read(unfinished(), stream);
    await turn();
    stream.end(BODY);
    expect(await body).toBe(BODY.toString());
  });

  it.each([
    ['closes without an end', undefined],
    ['fails', new Error('reset by peer')],
  ])('is given up at once when its stream %s, also where it fails once more', async (_how, error) => {
    const stream = new PassThrough();
    const body = read(unfinished(), stream);
    await turn();
    stream.destroy(error);
    await expect(body).rejects.toEqual(refusal('incomplete_body'));
    expect(stream.emit('error', new Error('once more'))).toBe(true);
  });
});

describe('bytes that a host has kept', () => {
  it('are taken from req.rawBody, also where the request was read', async () => {
    const req = Object.assign(requestOf(Buffer.alloc(0)), { rawBody: BODY });
    await once(req.resume(), 'end');
    expect(await read(req)).toBe(BODY.toString());
  });

  it('are taken from req.body where the request was read, and only there', async () => {
    const req = Object.assign(requestOf(), { body: Buffer.from('of a parser') });
    expect(await read(req)).toBe(BODY.toString());
    expect(await read(req)).toBe('of a parser');
  });

  it('are not taken where they are a text', async () => {
    expect(await read(Object.assign(requestOf(), { rawBody: 'a text', body: 'a text' }))).toBe(BODY.toString());
  });
});

describe('a body that something has read first', () => {
  it.each([
    ['and left nothing', {}, /read the body first, so the bytes/],
    ['and left an object', { body: {} }, /read the body first and left an object in req\.body, so the bytes/],
    ['and left a text', { body: '{}' }, /read the body first and left a text in req\.body, so the bytes/],
  ])('is refused with the hint of the host (%s)', async (_what, left, message) => {
    const req = Object.assign(requestOf(), left);
    await once(req.resume(), 'end');
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', message));
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', /\. Move the webhook up\.$/));
  });

  it('is refused also where it was empty', async () => {
    const req = requestOf(Buffer.alloc(0));
    await once(req.resume(), 'end');
    await expect(read(req)).rejects.toEqual(refusal('body_consumed'));
  });

  it('is refused where it is read as text', async () => {
    await expect(read(requestOf().setEncoding('utf8'))).rejects.toEqual(refusal('body_consumed', HINT));
  });

  it('is refused where it was read in part', async () => {
    const req = requestOf();
    req.read(3);
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', HINT));
  });

  it('is refused where a listener takes it before the next turn', async () => {
    await expect(read(requestOf().on('data', () => undefined))).rejects.toEqual(refusal('body_consumed', HINT));
  });

  it('is refused where another webhook reads it at this moment, and the first one has it (F21)', async () => {
    const req = requestOf();
    expect(isClaimed(req)).toBe(false);
    const first = read(req);
    expect(isClaimed(req)).toBe(true);
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', /^another paymentWebhook has read this request/));
    expect(await first).toBe(BODY.toString());
  });

  it('is refused where a webhook of another copy of this module reads it (F21)', async () => {
    vi.resetModules();
    const another = await import('../src/read-body.js');
    expect(another.isClaimed).not.toBe(isClaimed);
    const req = requestOf();
    const first = another.readBody(req, req, limits, HINT);
    expect(isClaimed(req)).toBe(true);
    await expect(read(req)).rejects.toEqual(refusal('body_consumed', /^another paymentWebhook/));
    expect(Buffer.from(await first)).toEqual(BODY);
  });
});
