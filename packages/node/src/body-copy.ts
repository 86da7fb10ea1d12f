/** Keeps the body of a request whose host runs other code first: its listeners take bytes. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

const COPY = Symbol.for('paylink.copy');

/** Ends the watch, and returns the stream with all bytes of the body. */
type Copied = IncomingMessage & { [COPY]?: () => Readable };

/**
 * Copies a request's body as soon as other code listens to the request. `readBody` then reads the
 * copy, even if that code pauses the request.
 *
 * @param limit maximum number of bytes to keep, plus the piece that exceeds it. Default: no limit
 */
export function copyBody(req: Copied, limit = Infinity): void {
  const listener = (event: string | symbol): void => {
    if (event === 'data' || event === 'readable') copy();
  };
  const copy = (): void => {
    req.off('newListener', listener);
    const stream = new Readable({ read: () => undefined });
    let length = 0;
    req.on('data', (piece: Uint8Array) => {
      if (length <= limit) stream.push(piece);
      length += piece.length;
    });
    req.on('end', () => stream.push(null)).on('close', () => req.readableEnded || stream.destroy());
    req[COPY] = () => (req.readableEncoding === null ? readOn(req, stream) : req);
  };
  if (req.listenerCount('data') + req.listenerCount('readable') > 0) return copy();
  req[COPY] = () => req.off('newListener', listener);
  req.on('newListener', listener);
}

/** Reads the rest of the request, so that nobody who pauses it stops the copy. */
function readOn(req: IncomingMessage, stream: Readable): Readable {
  const onReadable = (): void => {
    while (req.read() !== null);
  };
  if (req.isPaused()) req.resume();
  req.on('readable', onReadable);
  onReadable();
  return stream;
}

/** Returns the stream with all bytes of the body: the copy if there is one, or the request. */
export function wholeBody(req: Copied): Readable {
  return req[COPY]?.() ?? req;
}
