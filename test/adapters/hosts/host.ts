/** The contract of a host for the suites. To add a host, add a file and a line in index.ts. */
import type { EventEmitter } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createGunzip } from 'node:zlib';
import type { Logger, ObserveHook, WebhookEvent } from '@paylink/core';

/** The options of a gate. */
export interface GateOptions {
  readonly secret: string;
  readonly bodyLimit?: number;
  readonly bodyTimeout?: number;
  readonly observe?: ObserveHook;
  readonly headers?: { readonly signature?: string; readonly event?: string };
  readonly logger?: Logger;
}

export interface HostOptions extends GateOptions {
  readonly handlerTimeout?: number;
  readonly onError?: (error: unknown, host: object) => unknown;
}

export type MerchantEvent = WebhookEvent;

/** The handler's context. Empty behind a gate. */
export interface MerchantContext {
  readonly signal?: AbortSignal;
}

/** Code that merchants put in front of the webhook or around it. */
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
  | 'a mounted router'
  | 'every method';

/** Milliseconds of slow code, such as a session store. */
export const SLOW = 60;

export interface Setup {
  readonly options: HostOptions;
  readonly surroundings?: Surroundings | undefined;
  /** Uses HTTP/2 without TLS. */
  readonly http2?: boolean;
  /** The merchant's code. */
  readonly handler: (event: MerchantEvent, context: MerchantContext) => unknown;
  /**
   * Called with errors that reach the app's error handler, which then answers 200 (P13). Behind a
   * gate, it answers 500.
   */
  readonly onHostError: (error: unknown) => void;
}

export interface Listening {
  readonly port: number;
  /** Counts the open sockets on the server's side. */
  connections(): Promise<number>;
  /** Stops listening, and resolves when the last connection has ended. */
  close(): Promise<void>;
}

export interface Capabilities {
  /** Set if the merchant's code stands behind a gate and answers. */
  readonly gate: boolean;
  /** Set if the host matches methods and paths before Paylink. */
  readonly routes: boolean;
  /** Headers that the host adds to every reply. */
  readonly banners: readonly string[];
  /** The sorted own keys of a handler's context. */
  readonly context: readonly string[];
  /** Set for hosts on Fetch's Request and Response, whose URLs have no dot segments. */
  readonly fetch: boolean;
  /**
   * The refusals with `Connection: close`: all, only a 401 on Hono's server, none on other Fetch
   * hosts.
   */
  readonly closes: boolean | 'a 401';
  /**
   * The author of refusals of invalid HTTP: Node with a bare status, or Fastify in its own form.
   */
  readonly parserErrors: 'Node' | 'Fastify';
  /** Set if the host supports HTTP/2. Express needs http.IncomingMessage. */
  readonly http2: boolean;
  readonly surroundings: readonly Surroundings[];
  /** Matches the log's advice if other code read the body first. */
  readonly hint: RegExp;
}

/** The capabilities of most hosts. */
export const USUAL = {
  gate: false,
  routes: true,
  banners: [],
  fetch: false,
  closes: true,
  parserErrors: 'Node',
  http2: false,
} satisfies Partial<Capabilities>;

export interface Host {
  readonly name: string;
  readonly capabilities: Capabilities;
  listen(setup: Setup): Promise<Listening>;
}

/** Returns the options without those that a gate does not have. */
export function gateOptionsOf({ options }: Setup): GateOptions {
  const { handlerTimeout: _, onError: __, ...rest } = options;
  return rest;
}

/** Returns the first segment of a path, and the rest. */
export function splitPath(path: string): readonly [prefix: string, rest: string] {
  const [, prefix = '', rest = ''] = /^(\/[^/]*)(.*)$/.exec(path)!;
  return [prefix, rest];
}

/** Returns the server for a request listener or a replacement. */
export function serverFor(
  { http2: overHttp2 = false }: Setup,
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
): Server {
  // Listeners expect node:http's classes. The compatibility API has the used members.
  return overHttp2
    ? http2.createServer(listener as unknown as Http2Listener)
    : http.createServer((req, res) => void listener(req, res));
}

type Http2Listener = Parameters<typeof http2.createServer>[1] & object;

/** Opens a server on a free port. */
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
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const ignore = (): undefined => undefined;

/** Merchants' code on a request of node:http. It calls `go` when the webhook may run. */
export type AroundNode = (req: IncomingMessage, go: () => unknown) => unknown;

const around = {
  'a naive reader': (req, go) => req.on('data', ignore).on('end', go),
  'a listener for data': (req, go) => {
    req.on('data', ignore);
    go();
  },
  'a listener for data, a tick earlier': (req, go) => {
    req.on('data', ignore);
    setImmediate(go);
  },
  'a text decoder': (req, go) => {
    req.setEncoding('utf8');
    go();
  },
  // Inflating middleware leaves the inflated bytes, and removes the encoding.
  'an inflater': (req, go) => {
    if (req.headers['content-encoding'] !== 'gzip') return go();
    delete req.headers['content-encoding'];
    delete req.headers['content-length'];
    const pieces: Buffer[] = [];
    req
      .pipe(createGunzip())
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const rawBody = Buffer.concat(pieces);
        Object.assign(req, { rawBody, body: rawBody });
        go();
      });
  },
  'something slow': (_req, go) => setTimeout(go, SLOW),
} satisfies Partial<Record<Surroundings, AroundNode>>;

export const aroundNode: Partial<Record<Surroundings, AroundNode>> = around;
export const AROUND_NODE = Object.keys(around) as (keyof typeof around)[];
