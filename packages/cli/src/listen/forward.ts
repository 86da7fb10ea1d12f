/** Forwards a delivery byte for byte, as a proxy does. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { explainNoAnswer } from '../receiver/post.js';
import type { Reply } from '../receiver/reply.js';

// Far above the size of a notification, and small enough to hold in memory.
const BODY_LIMIT = 1_000_000;
const TIMEOUT = 30_000;
/** Headers of one connection. The next connection sets its own. */
const OF_THE_CONNECTION =
  /^(host|connection|keep-alive|proxy-connection|transfer-encoding|content-length|upgrade|te|trailer|expect)$/i;

/** Header lines as received, in their order, without those of the connection. */
type HeaderLines = readonly (readonly [name: string, value: string])[];

export interface Delivery {
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  readonly method: string;
  readonly headers: HeaderLines;
  readonly body: Buffer;
}

export interface Forwarded {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly body: Buffer;
}

/** Returns the answer, or the reason why the server sent none. */
export function forward(
  { method, headers, body }: Delivery,
  target: URL,
  stop: AbortSignal,
): Promise<Forwarded | string> {
  return new Promise((resolve) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const own = ['Host', target.host, 'Content-Length', String(body.length), 'Connection', 'close'];
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT), stop]);
    const req = send(target, { method, headers: [...headers.flat(), ...own], signal });
    req.once('error', (error) => resolve(explainNoAnswer(error, target)));
    req.once('upgrade', (_res, socket) => {
      socket.destroy();
      resolve('the server answered 101 (Switching Protocols), which is no answer to a delivery');
    });
    req.once('response', (res) => {
      readBody(res).then(
        (answered = Buffer.alloc(0)) =>
          resolve({ status: res.statusCode!, headers: headersOf(res), body: answered }),
        () => resolve('the answer broke off'),
      );
    });
    // After each of the events above, this changes nothing.
    req.once('close', () => setImmediate(resolve, 'the connection closed without an answer'));
    req.end(body);
  });
}

export function headersOf({ rawHeaders }: IncomingMessage): HeaderLines {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names
    .map((name, index): [string, string] => [name, rawHeaders[2 * index + 1]!])
    .filter(([name]) => !OF_THE_CONNECTION.test(name));
}

/** Returns the whole body, or undefined if the body is over the limit. */
export async function readBody(stream: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > BODY_LIMIT) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function replyOf({ status, headers, body }: Forwarded): Reply {
  const named = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return { status, headers: Object.fromEntries(named), body: body.toString('utf8') };
}
