import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import type { HeaderLine } from './notification.js';

/** A receiver's answer. */
export type Answer = Readonly<{
  status: number;
  headers: Readonly<Record<string, string | readonly string[]>>;
  /** The first 4,096 bytes. */
  body: string;
  truncated: boolean;
}>;

/** Timing of a body that is not sent at once. */
export type Pace =
  | { readonly kind: 'slow'; /** Milliseconds between two bytes. */ readonly interval: number }
  | {
      readonly kind: 'break off';
      /** Bytes that are sent before the connection is reset. */ readonly after: number;
    };

export interface Message {
  readonly url: URL;
  /** Every header line, as sent. */
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  readonly pace?: Pace | undefined;
  /** Resolves the host's name. The default accepts every address of the name. */
  readonly lookup: LookupFunction | undefined;
  /** Milliseconds from the connection to the end of the answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

const BODY_KEPT = 4_096;

// A reset discards unread bytes, so the receiver needs time to read them.
const UNTIL_READ = 100;

/** The error of a connection that a fault broke off. */
export const BROKEN_OFF = 'broken off on purpose';

// Each notification uses a new connection: a kept-alive connection that the receiver has just
// closed would look like a failure. The caller bounds the number of connections.
const agents = {
  http: new HttpAgent({ keepAlive: false }),
  https: new HttpsAgent({ keepAlive: false }),
};

/** Returns the header lines that every request has. */
export function framing(url: URL, bodyLength: number): HeaderLine[] {
  return [
    ['Host', url.host],
    ['Connection', 'close'],
    ['Content-Length', String(bodyLength)],
  ];
}

/**
 * Posts a message and returns the answer. Does not follow redirects.
 *
 * @throws Error without an answer: refused, reset, timed out, broken off or aborted
 */
export function send({
  url,
  headers,
  body,
  pace,
  lookup,
  timeout,
  signal,
}: Message): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const req = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      // Header lines, so that Node sends a repeated header twice and adds none.
      headers: headers.flat(),
      agent: secure ? agents.https : agents.http,
      ...(lookup === undefined ? {} : { lookup }),
      signal,
    });
    const timer = setTimeout(() => req.destroy(new Error(`no answer in ${timeout} ms`)), timeout);
    req.once('close', () => {
      clearTimeout(timer);
    });
    // The receiver may close the connection during a slow body. The first error rejects, and later
    // errors must not be uncaught.
    req.on('error', reject);
    req.once('response', (res) => {
      readAnswer(res, resolve);
    });
    if (pace === undefined) req.end(body);
    else if (pace.kind === 'slow') writeSlowly(req, body, pace.interval);
    else breakOff(req, body.subarray(0, pace.after), reject);
  });
}

function writeSlowly(req: ClientRequest, body: Uint8Array, interval: number): void {
  let sent = 0;
  req.flushHeaders();
  const timer = setInterval(() => {
    if (sent < body.byteLength) req.write(body.subarray(sent, ++sent));
    if (sent < body.byteLength) return;
    clearInterval(timer);
    req.end();
  }, interval);
  req.once('close', () => clearInterval(timer));
}

function breakOff(req: ClientRequest, beginning: Uint8Array, reject: (error: Error) => void): void {
  req.flushHeaders();
  req.write(beginning, () => {
    const timer = setTimeout(() => {
      reject(new Error(BROKEN_OFF));
      // A client that dies leaves a reset.
      req.socket?.resetAndDestroy();
      req.destroy();
    }, UNTIL_READ);
    req.once('close', () => clearTimeout(timer));
  });
}

/** Keeps the start of the body. The status decides, so a body that breaks off does not matter. */
function readAnswer(res: IncomingMessage, resolve: (answer: Answer) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let done = false;

  res.on('data', (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length > BODY_KEPT) finish();
  });
  res.once('end', finish).once('error', finish).once('close', finish);

  function finish(): void {
    if (done) return;
    done = true;
    const body = Buffer.concat(chunks).subarray(0, BODY_KEPT).toString('utf8');
    resolve({
      status: res.statusCode!,
      headers: namedHeaders(res),
      body,
      truncated: length > BODY_KEPT || !res.complete,
    });
    res.destroy();
  }
}

function namedHeaders(res: IncomingMessage): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(res.headers).filter(
      (entry): entry is [string, string | string[]] => entry[1] !== undefined,
    ),
  );
}
