import { performance } from 'node:perf_hooks';
import type { LookupFunction } from 'node:net';
import type { HeaderLine, Notification } from './notification.js';
import { framing, send, type Answer, type Pace } from './send.js';

/** What was sent. */
export interface SentRequest {
  readonly method: 'POST';
  readonly url: string;
  /** The headers that a notification has; a repeated one is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Every header line, in the order of the wire. */
  readonly headerLines: readonly HeaderLine[];
  /** The body as UTF-8. */
  readonly body: string;
  /** The body as it was sent. */
  readonly rawBody: Uint8Array;
}

/** One POST to the webhook URL. */
export interface DeliveryAttempt {
  /** Counts from 1, also past what is kept. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly request: SentRequest;
  readonly response?: Answer;
  /** Why there was no response. */
  readonly error?: string;
}

export interface Target {
  readonly url: URL;
  readonly lookup: LookupFunction | undefined;
}

/** A notification as it stands on the wire, made once so that every attempt of a delivery sends and shows the same. */
export function toRequest({ url }: Target, { headers, body }: Notification): SentRequest {
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) joined[name] = joined[name] === undefined ? value : `${joined[name]}, ${value}`;
  return {
    method: 'POST',
    url: url.href,
    headers: joined,
    headerLines: [...framing(url, body.byteLength), ...headers],
    body: body.toString('utf8'),
    rawBody: body,
  };
}

export interface AttemptOptions {
  readonly number: number;
  readonly pace?: Pace | undefined;
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Sends once, and tells what came of it; never throws. */
export async function attempt(
  { url, lookup }: Target,
  request: SentRequest,
  { number, pace, timeout, signal }: AttemptOptions,
): Promise<DeliveryAttempt> {
  const startedAt = new Date();
  const started = performance.now();
  let outcome: { response: Answer } | { error: string };
  try {
    const { headerLines: headers, rawBody: body } = request;
    outcome = { response: await send({ url, headers, body, pace, lookup, timeout, signal }) };
  } catch (error) {
    outcome = { error: describe(error) };
  }
  return { number, startedAt, durationMs: performance.now() - started, request, ...outcome };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, code } = error as Error & { code?: string };
  if (error.name === 'AbortError' && cause instanceof Error) return cause.message;
  // Where a name has two addresses and neither answers, Node's error has no message of its own.
  return error.message === '' ? (code ?? error.name) : error.message;
}
