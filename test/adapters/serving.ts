/** A server under attack, with the checks after every test. */
import { expect } from 'vitest';
import { genuine, SECRET } from './deliveries.js';
import type { Host, HostOptions, Listening } from './hosts/host.js';
import type { MerchantEvent, Setup, Surroundings } from './hosts/host.js';
import { mustStaySecret } from './secrets.js';
import { expectNoSecretIn, expectNothingAmiss } from './watch.js';
import { closeWires, exchange, type Wire, type WireReply } from './wire.js';

export const RECEIVED = '{"received":true}';

export interface Serving {
  readonly host: Host;
  readonly port: number;
  /** The events that reached the merchant's code. */
  readonly events: MerchantEvent[];
  /** The errors that the hook `onError` got. */
  readonly errors: unknown[];
  /** The errors that reached the host's error handler: none, except behind a gate. */
  readonly hostErrors: unknown[];
  connections(): Promise<number>;
}

export interface Circumstances {
  readonly options?: Partial<HostOptions>;
  readonly surroundings?: Surroundings;
  readonly handler?: Setup['handler'];
  /** The expected statuses of a genuine delivery afterwards, for servers that cannot accept any. */
  readonly afterwards?: number | readonly number[];
  /** Serves HTTP/2. This function sends the genuine delivery afterwards. */
  readonly overHttp2?: (body: Buffer) => Promise<Pick<WireReply, 'status' | 'body'>>;
}

const AFTERWARDS = 'order-afterwards';

/** What a server collects for the test that it serves now, and the handler of that test. */
interface Test extends Pick<Serving, 'events' | 'errors' | 'hostErrors'> {
  readonly handler: Setup['handler'] | undefined;
}

interface Server {
  readonly listening: Listening;
  test: Test;
}

const shared = new Map<Host, Server>();
const running: {
  readonly serving: Serving;
  readonly server: Server;
  readonly afterwards: readonly number[];
  readonly overHttp2: Circumstances['overHttp2'];
}[] = [];

/**
 * Serves the host for a test. The tests of a file share a server, except those with options or
 * surroundings of their own. After a test, the server must accept a genuine delivery and have no
 * open connections.
 */
export async function serve(host: Host, circumstances: Circumstances = {}): Promise<Serving> {
  mustStaySecret(SECRET);
  const { options, surroundings, handler, afterwards = 200, overHttp2 } = circumstances;
  const test = { events: [], errors: [], hostErrors: [], handler };
  const isShared = !(options ?? surroundings ?? overHttp2);
  const open = isShared ? shared.get(host) : undefined;
  const server = open ?? (await start(host, circumstances, test));
  if (isShared) shared.set(host, server);
  server.test = test;
  const { port } = server.listening;
  const serving = { host, port, connections: () => server.listening.connections(), ...test };
  running.push({ serving, server, afterwards: [afterwards].flat(), overHttp2 });
  return serving;
}

async function start(
  host: Host,
  { options, surroundings, overHttp2 }: Circumstances,
  test: Test,
): Promise<Server> {
  const server = { test };
  const listening = await host.listen({
    options: { secret: SECRET, onError: (error) => server.test.errors.push(error), ...options },
    surroundings,
    http2: overHttp2 !== undefined,
    handler(event, context) {
      const { events, handler } = server.test;
      events.push(event);
      return event.reference === AFTERWARDS ? undefined : handler?.(event, context);
    },
    onHostError: (error) => server.test.hostErrors.push(error),
  });
  return Object.assign(server, { listening });
}

/** Checks the servers of a test, and closes those of this test alone. */
export async function closeServers(): Promise<void> {
  const used = running.splice(0);
  try {
    for (const { serving, afterwards, overHttp2 } of used) {
      const reply = overHttp2
        ? await overHttp2(Buffer.from(`{"reference":"${AFTERWARDS}"}`))
        : await exchange(serving.port, genuine(AFTERWARDS));
      expect(afterwards, 'the status of a genuine delivery afterwards').toContain(reply.status);
      if (reply.status === 200) {
        expect(reply.body).toBe(RECEIVED);
        expect(serving.events.at(-1)?.reference).toBe(AFTERWARDS);
      }
      if (!serving.host.capabilities.gate) expect(serving.hostErrors).toEqual([]);
    }
  } finally {
    closeWires();
    for (const { serving, server } of used) {
      if (shared.get(serving.host) === server) await noConnections(serving);
      else await within(2_000, 'the close of the server', server.listening.close());
    }
  }
  expectNothingAmiss();
}

/** Closes the servers that the tests of a file shared. */
export async function closeSharedServers(): Promise<void> {
  const closing = Array.from(shared.values(), ({ listening }) => listening.close());
  shared.clear();
  await within(2_000, 'the close of the shared servers', Promise.all(closing));
}

/** Waits until the server has no open connection. */
export function noConnections(serving: Serving): Promise<void> {
  return eventually('the end of the connections', async () => (await serving.connections()) === 0);
}

/** Returns the references that reached the merchant's code. */
export function references({ events }: Serving): string[] {
  return events.map(({ reference }) => reference);
}

export function expectAcknowledged(reply: WireReply): void {
  expect([reply.status, reply.body]).toEqual([200, RECEIVED]);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json\b/);
  expectNoSecretIn(reply.bytes.toString('latin1'));
}

const ASKED: Readonly<Record<number, readonly [name: string, value: string]>> = {
  401: ['www-authenticate', 'Signature'],
  405: ['allow', 'POST'],
  503: ['retry-after', '5'],
};

/** Expects a reply with only `code`. */
export function expectRefused(reply: WireReply, status: number, code: string): void {
  expect([reply.status, reply.body]).toEqual([status, JSON.stringify({ error: code })]);
  expect(reply.headers.get('content-type')).toBe('application/json');
  const [name, value] = ASKED[status] ?? ['content-type', 'application/json'];
  expect(reply.headers.get(name)).toBe(value);
  expectNoSecretIn(reply.bytes.toString('latin1'));
}

/** Sends a delivery that the receiver must acknowledge. */
export async function expectAccepted({ port }: Serving, ...pieces: Uint8Array[]): Promise<void> {
  expectAcknowledged(await exchange(port, ...pieces));
}

/** Sends a delivery that the receiver must refuse for its signature. */
export async function expectForged({ port }: Serving, ...pieces: Uint8Array[]): Promise<void> {
  expectRefused(await exchange(port, ...pieces), 401, 'invalid_signature');
}

/** Expects the reply to announce the connection's end, if the host allows that. */
export function expectClosing({ capabilities: { closes } }: Host, reply: WireReply): void {
  const isAnnounced = closes === 'a 401' ? reply.status === 401 : closes;
  if (isAnnounced) expect(reply.headers.get('connection')).toBe('close');
}

/**
 * Expects the connection to end with the reply, and the reply to announce it, if the host allows
 * that.
 */
export async function expectEnded(host: Host, reply: WireReply, wire: Wire): Promise<void> {
  expectClosing(host, reply);
  if (host.capabilities.closes === true) await wire.closed();
}

/** Fastify's refusal of invalid HTTP, instead of Node's. */
export const FASTIFY_REFUSAL = /^\{"error":"[A-Z][\w ]+","message":"[\w ]+","statusCode":\d+\}$/;

/** Expects a refusal by the server's HTTP parser, before Paylink. */
export function expectRefusedByParser(
  { capabilities }: Host,
  reply: WireReply,
  status: number,
): void {
  expect(reply.status).toBe(status);
  if (capabilities.parserErrors === 'Fastify') {
    expect(reply.body).toMatch(FASTIFY_REFUSAL);
  } else {
    expect(reply.headers.get('connection')).toBe('close');
    expect(reply.body).toBe('');
  }
}

export async function within<T>(
  milliseconds: number,
  what: string,
  promise: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${what} took more than ${milliseconds} ms`));
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Polls for a state without an event. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  milliseconds = 2_000,
): Promise<void> {
  for (const end = performance.now() + milliseconds; !(await holds());) {
    if (performance.now() > end)
      throw new Error(`${what} did not come about in ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
