import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { copyBody, wholeBody } from '../src/body-copy.js';

function listenedTo(limit?: number): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  copyBody(req, limit);
  return req.on('data', () => undefined);
}

describe('the copy of a body', () => {
  it('keeps no more than its limit and the piece that exceeds it', async () => {
    const req = listenedTo(100);
    for (let piece = 0; piece < 10; piece++) {
      req.push(Buffer.alloc(60));
      await turn();
    }
    expect(wholeBody(req).readableLength).toBe(120);
  });

  it('is not used if other code turns the body into text', () => {
    const req = listenedTo();
    req.setEncoding('utf8');
    expect(wholeBody(req)).toBe(req);
  });

  it('fails at once if the sender leaves', async () => {
    const req = listenedTo();
    req.push(Buffer.alloc(60));
    await turn();
    const copy = wholeBody(req);
    req.destroy();
    await once(copy, 'close');
    expect(copy.readableEnded).toBe(false);
  });

  it.each<[string, (req: IncomingMessage) => unknown]>([
    ['once', (req) => req.pause()],
    ['at each piece', (req) => req.on('data', () => req.pause())],
  ])('reads on if other code pauses the request %s', async (_when, pause) => {
    const req = listenedTo();
    pause(req);
    const copy = wholeBody(req);
    for (const piece of [Buffer.alloc(60), Buffer.alloc(60), null]) {
      req.push(piece);
      await turn();
    }
    expect(copy.readableLength).toBe(120);
  });

  it.each(['data', 'readable'])('begins at once if other code listens for `%s`', (event) => {
    const req = new IncomingMessage(new Socket()).on(event, () => undefined);
    const { length } = req.listeners('data');
    copyBody(req);
    expect(req.listenerCount('data')).toBe(length + 1);
  });

  it('begins with the first listener that takes bytes', () => {
    const req = new IncomingMessage(new Socket());
    copyBody(req);
    req.on('close', () => undefined);
    expect(wholeBody(req)).toBe(req);
    expect(req.listenerCount('newListener')).toBe(0);
  });
});
