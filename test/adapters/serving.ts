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
}

const AFTERWARDS = 'order-afterwards';
const running = new Set<{
  readonly serving: Serving;
  readonly listening: Listening;
  readonly afterwards: readonly number[];
}>();

/**
 * Starts the host. After the test, it must accept a genuine delivery, then close without open
 * connections.
 */
export async function serve(
  host: Host,
  { options, surroundings, handler, afterwards = 200 }: Circumstances = {},
): Promise<Serving> {
  mustStaySecret(SECRET);
  const events: MerchantEvent[] = [];
  const errors: unknown[] = [];
  const hostErrors: unknown[] = [];
  const listening = await host.listen({
    options: { secret: SECRET, onError: (error) => errors.push(error), ...options },
    surroundings,
    handler: (event, context) => {
      events.push(event);
      return event.reference === AFTERWARDS ? undefined : handler?.(event, context);
    },
    onHostError: (error) => hostErrors.push(error),
  });
  const serving = {
    host,
    port: listening.port,
    events,
    errors,
    hostErrors,
    connections: () => listening.connections(),
  };
  running.add({ serving, listening, afterwards: [afterwards].flat() });
  return serving;
}

/** Checks and closes the servers of a test. */
export async function closeServers(): Promise<void> {
  const servers = [...running];
  running.clear();
  try {
    for (const { serving, afterwards } of servers) {
      const reply = await exchange(serving.port, genuine(AFTERWARDS));
      expect(afterwards, 'the status of a genuine delivery afterwards').toContain(reply.status);
      if (reply.status === 200) {
        expect(reply.body).toBe(RECEIVED);
        expect(serving.events.at(-1)?.reference).toBe(AFTERWARDS);
      }
      if (!serving.host.capabilities.gate) expect(serving.hostErrors).toEqual([]);
    }
  } finally {
    closeWires();
    for (const { listening } of servers)
      await within(2_000, 'the close of the server', listening.close());
  }
  expectNothingAmiss();
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
