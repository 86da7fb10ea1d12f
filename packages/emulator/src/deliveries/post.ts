import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { clearTimeout, setTimeout } from 'node:timers';
import type { WebhookTarget } from '../server/target.js';
import type { ReceiverAnswer } from './delivery.js';

export interface Message {
  readonly target: WebhookTarget;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds from the connection to the end of the answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

const BODY_KEPT = 4_096;

// Each notification uses a new connection: a kept-alive connection that the receiver has just
// closed would look like a failure. Beyond 64 connections to a receiver, notifications wait.
const AGENT = { keepAlive: false, maxSockets: 64 };
const agents = { http: new HttpAgent(AGENT), https: new HttpsAgent(AGENT) };

/**
 * Posts a message and returns the answer. Does not follow redirects.
 *
 * @throws Error without an answer: refused, reset, timed out or aborted
 */
export function postNotification(message: Message): Promise<ReceiverAnswer> {
  const { target, headers, body, timeout, signal } = message;
  const { url, lookup } = target;
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const req = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      agent: secure ? agents.https : agents.http,
      ...(lookup === undefined ? {} : { lookup }),
      signal,
    });
    let hasAnswer = false;
    let timer: NodeJS.Timeout | undefined;
    // A request that waits for a connection has not begun.
    req.once('socket', () => {
      timer = setTimeout(() => {
        const error = new Error(`no answer in ${timeout} ms`);
        req.destroy(Object.assign(error, { code: 'timeout' }));
      }, timeout);
    });
    req.on('error', reject);
    req.once('response', (res) => {
      hasAnswer = true;
      readAnswer(res, resolve);
    });
    // A 101 leaves HTTP, so Node emits no response.
    req.once('upgrade', (res, socket) => {
      hasAnswer = true;
      socket.destroy();
      resolve(toAnswer(res, Buffer.alloc(0)));
    });
    req.once('close', () => {
      clearTimeout(timer);
      if (!hasAnswer) reject(new Error('the connection closed without an answer'));
    });
    req.end(body);
  });
}

/** Keeps the start of the body. The status decides, so a body that breaks off does not matter. */
function readAnswer(res: IncomingMessage, resolve: (answer: ReceiverAnswer) => void): void {
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
    resolve(toAnswer(res, Buffer.concat(chunks)));
    res.destroy();
  }
}

function toAnswer(res: IncomingMessage, bytes: Buffer): ReceiverAnswer {
  const body = bytes.subarray(0, BODY_KEPT).toString('utf8');
  const code = codeIn(body);
  return {
    status: res.statusCode!,
    ...(code === undefined ? {} : { code }),
    headers: res.headers as ReceiverAnswer['headers'],
    body,
    truncated: bytes.byteLength > BODY_KEPT || !res.complete,
  };
}

function codeIn(body: string): string | undefined {
  try {
    const { error } = Object(JSON.parse(body)) as { readonly error?: unknown };
    return typeof error === 'string' && /^[a-z0-9_]{1,64}$/.test(error) ? error : undefined;
  } catch {
    return undefined;
  }
}
