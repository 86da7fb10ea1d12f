import { createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createClient, type ClientOptions, type PaylinkClient } from '../src/index.js';

/** A request as its bytes were. */
export interface RawRequest {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers a request on the bare socket, so that it can send bytes that no HTTP server sends. */
export type Behaviour = (socket: Socket, request: RawRequest) => void;

export interface RawServer {
  readonly baseUrl: string;
  readonly port: number;
  readonly requests: RawRequest[];
  close(): Promise<void>;
}

/**
 * Starts a server, which ends with its test. The first behaviour answers the first request, and so
 * on. The last one stays.
 */
export async function startRawServer(
  ...behaviours: [Behaviour, ...Behaviour[]]
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let bytes = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      bytes += chunk;
      const request = readRequest(bytes);
      if (request === undefined) return;
      bytes = '';
      const behaviour = behaviours[Math.min(requests.length, behaviours.length - 1)]!;
      requests.push(request);
      behaviour(socket, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = {
    baseUrl: `http://127.0.0.1:${port}/api`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  onTestFinished(() => raw.close());
  return raw;
}

/** Starts a server and a client of it. */
export async function startClient(
  behaviours: [Behaviour, ...Behaviour[]],
  options: Partial<ClientOptions> = {},
) {
  const server = await startRawServer(...behaviours);
  return { server, client: createClient({ baseUrl: server.baseUrl, apiKey: API_KEY, ...options }) };
}

function readRequest(bytes: string): RawRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...fields] = bytes.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  );
  const body = bytes.slice(end + 4);
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined;
  return { line, headers, body: Buffer.from(body, 'latin1').toString('utf8') };
}

/** Answers as it should: the status, the body and its length. */
export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Behaviour {
  return (socket, request) => {
    const value: unknown =
      typeof body === 'function' ? (body as (request: RawRequest) => unknown)(request) : body;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const fields = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(text)),
      Connection: 'close',
      ...headers,
    };
    socket.end(`${head(status, fields)}${text}`);
  };
}

export function head(status: number, fields: Record<string, string>): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Something\r\n${lines.join('')}\r\n`;
}

/** The link that docs/service.md 2.2 gives for the request. */
export const link = (request: RawRequest): Record<string, unknown> => {
  const { reference, amount } = JSON.parse(request.body) as Record<string, unknown>;
  return {
    token: 'token-1',
    url: 'https://pay.example/link/token-1',
    amount,
    currency: 'XOF',
    reference,
    status: 'pending',
  };
};

/** The payment that docs/service.md 2.3 gives for the reference of the path. */
export const payment = (request: RawRequest): Record<string, unknown> => {
  const reference = decodeURIComponent(request.line.split(' ')[1]!.split('/').at(-1)!);
  return { reference, type: 'payment', amount: 15_000, currency: 'XOF', status: 'success' };
};

export const created = answer(201, link);
export const read = answer(200, payment);

/** Resets the connection. */
export const drop: Behaviour = (socket) => {
  socket.resetAndDestroy();
};

/** Takes the request and says nothing. */
export const hang: Behaviour = () => undefined;

/** Cuts a reply within its body. */
export const cutOff =
  (status: number, start = '{"'): Behaviour =>
  (socket) =>
    socket.end(`${head(status, { 'Content-Length': '500' })}${start}`);

/** Sends the start of a reply, and never its end. */
export const stall =
  (status: number): Behaviour =>
  (socket) =>
    void socket.write(`${head(status, { 'Content-Length': '500' })}{"`);

/** An API key of no service. */
export const API_KEY = 'sk_live_id42.a-secret-part-of-nobody';

/** Creates a client of a service that only `fetch` knows. */
export function clientOf(
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  options: Partial<ClientOptions> = {},
): PaylinkClient {
  const baseUrl = 'https://service.example/api';
  return createClient({ baseUrl, apiKey: API_KEY, fetch, ...options });
}

/** What a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );
}
