/** Keeps the body of requests whose host runs other code first: its `data` listener takes bytes. */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

const COPY = Symbol.for('paylink.copy');

/** Ends the watch, and returns the stream with all bytes of the body. */
type Copied = IncomingMessage & { [COPY]?: () => Readable };

const routesOf = new WeakMap<EventEmitter, { readonly start: string; readonly limit: number }[]>();

/**
 * Copies the bodies of requests for a route, from the first `data` listener of other code on.
 * `readBody` then reads the copy.
 *
 * @param path a route's path. Every request is copied that begins like it, up to a parameter
 * @param limit bytes to keep. The piece that exceeds it is kept too. Default: no limit
 */
export function copyBodies(server: EventEmitter, path: string, limit = Infinity): void {
  const [start = ''] = path.split(/[:*(]/, 1);
  const others = routesOf.get(server);
  if (others !== undefined) return void others.push({ start, limit });
  const routes = [{ start, limit }];
  routesOf.set(server, routes);
  server.prependListener('request', (req: IncomingMessage) => {
    const possible = routes.filter((each) => req.url?.startsWith(each.start));
    if (possible.length > 0) watch(req, Math.max(...possible.map((route) => route.limit)));
  });
}

function watch(req: Copied, limit: number): void {
  const listener = (event: string | symbol): void => {
    if (event !== 'data') return;
    req.off('newListener', listener);
    const stream = new Readable({ read: () => undefined });
    let length = 0;
    req.on('data', (piece: Uint8Array) => {
      if (length <= limit) stream.push(piece);
      length += piece.length;
    });
    req.on('end', () => stream.push(null)).on('close', () => req.readableEnded || stream.destroy());
    req[COPY] = () => (req.readableEncoding === null ? stream : req);
  };
  req[COPY] = () => req.off('newListener', listener);
  req.on('newListener', listener);
}

/** Returns the stream with all bytes of the body: the copy if there is one, or the request. */
export function wholeBody(req: Copied): Readable {
  return req[COPY]?.() ?? req;
}
