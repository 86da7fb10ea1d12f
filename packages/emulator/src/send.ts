import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { lookupLoopback } from './loopback.js';

/** What a receiver answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The first 4,096 bytes. */
  readonly body: string;
  readonly truncated: boolean;
}

export interface Message {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Milliseconds from the connection to the end of the answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

const BODY_KEPT = 4_096;

// One connection for each notification, as a kept one that the receiver has just closed would look like a failure; and a bound
// on how many there are at once.
const agents = {
  http: new HttpAgent({ keepAlive: false, maxSockets: 64 }),
  https: new HttpsAgent({ keepAlive: false, maxSockets: 64 }),
};

/**
 * Posts a message to a loopback address and gives the answer. A redirect is an answer like any other.
 *
 * @throws Error when there was no answer: refused, reset, timed out or aborted.
 */
export function send({ url, headers, body, timeout, signal }: Message): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const req = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(body.byteLength) },
      agent: secure ? agents.https : agents.http,
      lookup: lookupLoopback,
      signal,
    });
    let timer: NodeJS.Timeout | undefined;
    // Not before the connection's turn has come: waiting for one is not the receiver's time.
    req.once('socket', () => {
      timer = setTimeout(() => req.destroy(new Error(`no answer in ${timeout} ms`)), timeout);
    });
    req.once('close', () => {
      clearTimeout(timer);
    });
    req.once('error', reject);
    req.once('response', (res) => {
      readAnswer(res, resolve);
    });
    req.end(body);
  });
}

/** Keeps the beginning of the body. The status has decided already, so a body that breaks off changes nothing. */
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
    resolve({ status: res.statusCode!, headers: namedHeaders(res), body, truncated: length > BODY_KEPT || !res.complete });
    res.destroy();
  }
}

function namedHeaders(res: IncomingMessage): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(res.headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined),
  );
}
