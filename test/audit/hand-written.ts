/** A careful merchant's hand-written receiver, and the habits that a careless merchant changes. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export const SECRET = 'a-secret-of-the-receiver-by-hand';
export const BODY_LIMIT = 20_000;

export interface Habits {
  /** Checks the signature header's form before the comparison. */
  isSignature(header: string): boolean;
  /** Returns the signatures in the header. */
  readHeader(header: string): readonly string[];
  equal(given: string, expected: string): boolean;
  /** Returns the verified bytes, from the received ones. */
  verified(raw: Buffer, headers: IncomingHttpHeaders): string | Buffer;
  readonly secret: string;
  readonly codings: readonly string[];
  parse(raw: Buffer): unknown;
  /** Returns the reply to a body that cannot be parsed. */
  invalid(error: unknown): string;
  forged(reason: string): string;
  readonly bodyLimit: number;
  /** Set if it checks the signature before it parses the body. */
  readonly verifiesFirst: boolean;
  /** Handles a verified event, and returns the status. */
  credit(reference: string): number;
}

export const SOUND: Habits = {
  isSignature: (header) => /^[0-9a-f]{64}$/.test(header),
  readHeader: (header) => [header],
  equal: (given, expected) =>
    timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(expected, 'hex')),
  verified: (raw) => raw,
  secret: SECRET,
  codings: ['', 'identity'],
  parse: (raw) =>
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)) as unknown,
  invalid: () => 'invalid',
  forged: () => 'forged',
  bodyLimit: BODY_LIMIT,
  verifiesFirst: true,
  credit: () => 200,
};

export interface Receiver {
  readonly url: string;
  close(): Promise<void>;
}

export async function listen(
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<Receiver> {
  // Node's own limit also strikes a request that a busy process has not read yet.
  const server = createServer({ requestTimeout: 0, headersTimeout: 0, ...options }, (req, res) => {
    limitTime(req, res);
    listener(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Listens until the test ends, and returns the URL. */
export async function serve(listener: RequestListener, options?: ServerOptions): Promise<string> {
  const receiving = await listen(listener, options);
  onTestFinished(() => receiving.close());
  return receiving.url;
}

const BODY_TIMEOUT = 1_500;
/** More than an audit's slow bodies, and less than its long ones. */
const SLOW_BODY = 40_000;

/** Answers 408 to a slow body, but not to an unread body or to a body that keeps coming. */
function limitTime(req: IncomingMessage, res: ServerResponse): void {
  const { socket } = req;
  const before = socket.bytesRead;
  const limit = setTimeout(() => {
    void strike();
  }, BODY_TIMEOUT);
  res.once('close', () => clearTimeout(limit));

  async function strike(): Promise<void> {
    await turn();
    await turn();
    if (
      req.complete ||
      res.headersSent ||
      socket.destroyed ||
      socket.bytesRead - before > SLOW_BODY
    )
      return;
    socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n', () => socket.destroy());
  }
}

/** Returns the sound receiver with some careless habits. */
export function receiver(careless: Partial<Habits> = {}): RequestListener {
  const habits = { ...SOUND, ...careless };
  return (req, res) => {
    answer(req, habits)
      .then(([status, text = '']) => void res.writeHead(status, { connection: 'close' }).end(text))
      .catch((error: unknown) => void res.writeHead(500).end(habits.invalid(error)));
  };
}

/** Returns the receiver with other statuses. */
export function answering(statusFor: (status: number) => number): RequestListener {
  return (req, res) => {
    const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => typeof res;
    res.writeHead = (status: number, ...rest: unknown[]) => writeHead(statusFor(status), ...rest);
    receiver()(req, res);
  };
}

type Judgement = readonly [status: number, text?: string];

async function answer(req: IncomingMessage, habits: Habits): Promise<Judgement> {
  if (req.method !== 'POST') return [405];
  if (Number(req.headers['content-length'] ?? 0) > habits.bodyLimit) return [413];
  if (!habits.codings.includes((req.headers['content-encoding'] ?? '').toLowerCase())) return [415];
  const raw = await readBody(req, habits.bodyLimit);
  return raw === undefined ? [413] : judge(raw, req.headers, habits);
}

async function readBody(req: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the status and the text of the reply to a whole delivery. */
export function judge(raw: Buffer, headers: IncomingHttpHeaders, habits: Habits): Judgement {
  if (!habits.verifiesFirst) habits.parse(raw);
  const { 'x-service-signature': header, 'x-service-event': kind } = headers;
  if (typeof header !== 'string' || !habits.isSignature(header))
    return [401, habits.forged('malformed')];
  const verified = habits.verified(raw, headers);
  const expected = createHmac('sha256', habits.secret).update(verified).digest('hex');
  if (!habits.readHeader(header).some((given) => habits.equal(given, expected)))
    return [401, habits.forged(expected)];
  if (typeof kind !== 'string' || !/^[a-z0-9._-]{1,128}$/.test(kind)) return [400];
  let body: unknown;
  try {
    body = habits.parse(raw);
  } catch (error) {
    return [400, habits.invalid(error)];
  }
  const { reference } = (body ?? {}) as { readonly reference?: unknown };
  if (typeof reference !== 'string' || reference.trim() === '') return [400];
  return [habits.credit(reference)];
}
