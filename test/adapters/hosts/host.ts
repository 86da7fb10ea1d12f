/**
 * What a host has to offer to the suites. A new one is a file beside this, and a line in index.ts.
 */
import type { EventEmitter } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createGunzip } from 'node:zlib';
import type { ObserveHook } from '@paylink/core';

export interface HostOptions {
  readonly secret: string;
  readonly bodyLimit?: number;
  readonly bodyTimeout?: number;
  readonly observe?: ObserveHook;
  readonly headers?: { readonly signature?: string; readonly event?: string };
}

/** A gate has no such option. */
export interface HandlerOptions extends HostOptions {
  readonly handlerTimeout?: number;
}

export interface MerchantEvent {
  readonly type: string;
  readonly reference: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly rawBody: Uint8Array;
  readonly secretIndex: number;
}

/** The handler's context. Empty behind a gate. */
export interface MerchantContext {
  readonly signal?: AbortSignal;
}

/** What merchants put in front of the webhook, or around it, by mistake or with reason. */
export type Surroundings =
  | 'a JSON parser'
  | 'a JSON parser on the parent'
  | 'a JSON parser that keeps a Buffer'
  | 'a JSON parser that keeps a string'
  | 'a text parser'
  | 'a raw parser'
  | 'a form parser'
  | 'a naive reader'
  | 'a listener for data'
  | 'a listener for data, a tick earlier'
  | 'a text decoder'
  | 'something slow'
  | 'the webhook twice'
  | 'another webhook at once'
  | 'an inflater'
  | 'a clone'
  | 'a body limit'
  | 'no gate'
  | 'no error handler'
  | 'a mounted router'
  | 'every method';

/** Milliseconds that something slow takes, a session store for one. */
export const SLOW = 60;

export interface Setup {
  readonly options: HandlerOptions;
  readonly surroundings?: Surroundings | undefined;
  /** Over HTTP/2 without TLS. */
  readonly http2?: boolean;
  /** The merchant's code. */
  readonly handler: (event: MerchantEvent, context: MerchantContext) => unknown;
  /** Told what reached the host's own error handling. */
  readonly onError: (error: unknown) => void;
}

export interface Listening {
  readonly port: number;
  /** How many sockets are open on the server's side. */
  connections(): Promise<number>;
  /** Stops listening, and resolves when the last connection has ended. */
  close(): Promise<void>;
}

export interface Capabilities {
  /**
   * The merchant's code stands behind a gate: the host, not we, deals with what it throws and how
   * long it takes.
   */
  readonly gate: boolean;
  /** The host matches methods and paths before us. */
  readonly routes: boolean;
  /** The body of the 500 to what a handler throws. */
  readonly failure: string;
  /** Headers that the host itself puts on every reply. */
  readonly banners: readonly string[];
  /** The keys of a handler's context, sorted. */
  readonly context?: readonly string[];
  /** Whether it stands on Fetch's Request and Response, whose URL has no dot segments. */
  readonly fetch: boolean;
  /**
   * Whether a refusal says `Connection: close`: every one, on Hono's server a 401 alone, on other
   * Fetch hosts none.
   */
  readonly closes: boolean | 'a 401';
  /**
   * Who words the refusal of what is no HTTP: Node, with a bare status, or Fastify, in its own
   * form.
   */
  readonly parserErrors: 'Node' | 'Fastify';
  /** Whether it can also serve HTTP/2. */
  readonly http2: boolean;
  readonly surroundings: readonly Surroundings[];
  /** What the log says to change when something read the body first. */
  readonly hint: RegExp;
}

export interface Host {
  readonly name: string;
  readonly capabilities: Capabilities;
  listen(setup: Setup): Promise<Listening>;
}

/** The server under a request listener, or under what takes the place of one. */
export function serverFor(
  { http2: overHttp2 = false }: Setup,
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
): Server {
  // What a listener takes are the classes of node:http; those of the compatibility API have what is
  // used of them.
  return overHttp2
    ? http2.createServer(listener as unknown as Http2Listener)
    : http.createServer((req, res) => void listener(req, res));
}

type Http2Listener = Parameters<typeof http2.createServer>[1] & object;

/** Opens a server, on a port of its own. */
export async function listening(server: Server): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    (server as EventEmitter).once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => {
          if (error) reject(error);
          else resolve(count);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}

/**
 * What an inflating middleware leaves of a compressed request on Node: the inflated bytes, and no
 * word of their encoding.
 */
export function inflated(req: IncomingMessage, done: () => void): void {
  if (req.headers['content-encoding'] !== 'gzip') {
    done();
    return;
  }
  delete req.headers['content-encoding'];
  delete req.headers['content-length'];
  const pieces: Buffer[] = [];
  req
    .pipe(createGunzip())
    .on('data', (piece: Buffer) => pieces.push(piece))
    .on('end', () => {
      const rawBody = Buffer.concat(pieces);
      Object.assign(req, { rawBody, body: rawBody });
      done();
    });
}
