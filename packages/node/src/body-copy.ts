/** Keeps the body of requests whose host runs other code first: its `data` listener takes bytes. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

const COPY = Symbol.for('paylink.copy');

interface Copy {
  readonly listener: (event: string | symbol) => void;
  /** The copied body, if other code has attached a `data` listener. */
  stream?: Readable;
}

type Copied = IncomingMessage & { [COPY]?: Copy };

/** The part of a server of node:http or node:http2 that announces requests. */
interface Server {
  prependListener(event: 'request', listener: (req: IncomingMessage) => void): unknown;
}

interface Route {
  readonly start: string;
  readonly limit: number;
}

const routesOf = new WeakMap<Server, Route[]>();

/**
 * Copies the bodies of requests for a route, from the first `data` listener of other code on.
 * `readBody` then reads the copy.
 *
 * @param path a route's path. Every request is copied that begins like it, up to a parameter
 * @param limit bytes to keep. The piece that exceeds it is kept too. Default: no limit
 */
export function copyBodies(server: Server, path: string, limit = Infinity): void {
  const [start = ''] = path.split(/[:*(]/, 1);
  const known = routesOf.get(server);
  const routes = known ?? [];
  routes.push({ start, limit });
  if (known !== undefined) return;
  routesOf.set(server, routes);
  server.prependListener('request', (req) => {
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
    req[COPY]!.stream = stream;
  };
  req[COPY] = { listener };
  req.on('newListener', listener);
}

/** Returns the stream with all bytes of the body: the copy if there is one, or the request. */
export function wholeBody(req: Copied): Readable {
  const { [COPY]: copy } = req;
  if (copy === undefined) return req;
  req.off('newListener', copy.listener);
  return copy.stream !== undefined && req.readableEncoding === null ? copy.stream : req;
}
