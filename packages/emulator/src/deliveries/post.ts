import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { sign } from '@paylink/core';
import type { WebhookTarget } from '../server/target.js';
import type { DeliveryAttempt, ReceiverAnswer } from './delivery.js';

export interface Notification {
  readonly target: WebhookTarget;
  readonly body: string;
  readonly secret: string;
  /** The number of the attempt. */
  readonly number: number;
  /** Milliseconds from the connection to the end of the answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

type Headers = DeliveryAttempt['request']['headers'];

const BODY_KEPT = 4_096;

// Each notification uses a new connection: a kept-alive connection that the receiver has just
// closed would look like a failure. Beyond 64 connections to a receiver, notifications wait.
const AGENT = { keepAlive: false, maxSockets: 64 };
const agents = { http: new HttpAgent(AGENT), https: new HttpsAgent(AGENT) };

/**
 * Signs a notification (docs/service.md 6.3) and sends it once. Returns the answer, or the reason
 * for a missing answer. Never throws.
 */
export async function sendOnce(notification: Notification): Promise<DeliveryAttempt> {
  const { target, body, secret, number } = notification;
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Event': 'payment.succeeded',
    'X-Service-Signature': await sign(body, secret),
  };
  const startedAt = new Date();
  const started = performance.now();
  const request = { method: 'POST', url: target.url.href, headers, body } as const;
  const outcome = await post(notification, headers).then(
    (response) => ({ response }),
    (error: unknown) => ({ error: explain(error, target.url) }),
  );
  return { number, startedAt, durationMs: performance.now() - started, request, ...outcome };
}

/**
 * Returns the answer to a POST. Does not follow redirects.
 *
 * @throws Error without an answer: refused, reset, timed out or aborted
 */
function post({ target, body, timeout, signal }: Notification, headers: Headers) {
  const { url, lookup } = target;
  return new Promise<ReceiverAnswer>((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const req = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      agent: secure ? agents.https : agents.http,
      ...(lookup === undefined ? {} : { lookup }),
      signal,
    });
    let timer: NodeJS.Timeout | undefined;
    // A request that waits for a connection has not begun.
    req.once('socket', () => {
      timer = setTimeout(() => {
        req.destroy(new Error(`no answer in ${timeout} ms`));
      }, timeout);
    });
    req.once('response', (res) => resolve(readAnswer(res)));
    // A 101 leaves HTTP, so Node emits no response.
    req.once('upgrade', (res, socket) => {
      socket.destroy();
      resolve(toAnswer(res, Buffer.alloc(0)));
    });
    req.on('error', reject);
    req.once('close', () => clearTimeout(timer));
    req.end(body);
  });
}

/** Keeps the start of the body. */
async function readAnswer(res: IncomingMessage): Promise<ReceiverAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of res as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > BODY_KEPT) break;
    }
  } catch {
    // The status decides, so a body that breaks off does not matter.
  }
  return toAnswer(res, Buffer.concat(chunks));
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

/** Explains error codes of the operating system. The message keeps the code, for searches. */
const MEANINGS: Readonly<Record<string, (url: URL) => string>> = {
  ECONNREFUSED: ({ origin }) => `nothing listens at ${origin} (ECONNREFUSED)`,
  ECONNRESET: ({ origin }) => `${origin} closed the connection without an answer (ECONNRESET)`,
  ENOTFOUND: ({ hostname }) => `the host ${hostname} does not exist (ENOTFOUND)`,
  EAI_AGAIN: ({ hostname }) => `the host ${hostname} could not be looked up (EAI_AGAIN)`,
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO/;

function explain(error: unknown, url: URL): string {
  const { name, message, cause, code = '' } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' && cause instanceof Error) return cause.message;
  if (CERTIFICATE.test(code)) {
    const problem = `the certificate of ${url.host} is not trusted (${code})`;
    return `${problem}: name its authority's file in NODE_EXTRA_CA_CERTS`;
  }
  // If a name has two addresses and neither answers, Node's error has an empty message.
  return MEANINGS[code]?.(url) ?? (message || code);
}
