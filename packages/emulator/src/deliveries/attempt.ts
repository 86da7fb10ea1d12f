import { performance } from 'node:perf_hooks';
import type { HeaderLine, Notification } from './notification.js';
import type { Target } from '../server/target.js';
import { framing, send, type Answer, type Pace } from './send.js';

/** The sent request. */
export type SentRequest = Readonly<{
  method: 'POST';
  url: string;
  /** The headers of the notification. A repeated header is joined with ", ". */
  headers: Readonly<Record<string, string>>;
  /** Every header line, in the order of the wire. */
  headerLines: readonly HeaderLine[];
  /** The body as UTF-8. */
  body: string;
  /** The body as sent. */
  rawBody: Uint8Array;
}>;

/** One POST to the webhook URL. */
export interface DeliveryAttempt {
  /** Counts from 1. Forgotten attempts keep their numbers. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly request: SentRequest;
  readonly response?: Answer;
  /** The reason if the attempt got no response. */
  readonly error?: string;
}

/**
 * Turns a notification into its wire form once, so that every attempt sends and shows the same
 * bytes.
 */
export function toRequest({ url }: Target, { headers, body }: Notification): SentRequest {
  const joined: Record<string, string> = {};
  for (const [name, value] of headers)
    joined[name] = joined[name] === undefined ? value : `${joined[name]}, ${value}`;
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

/** Sends once. Returns the answer, or the reason for a missing answer. Never throws. */
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
    outcome = { error: describe(error, url) };
  }
  return { number, startedAt, durationMs: performance.now() - started, request, ...outcome };
}

/** Explains error codes of the operating system. The message keeps the code, for searches. */
const MEANINGS: Readonly<Record<string, (url: URL) => string>> = {
  ECONNREFUSED: ({ origin }) => `nothing listens at ${origin} (ECONNREFUSED)`,
  ECONNRESET: ({ origin }) => `${origin} closed the connection without an answer (ECONNRESET)`,
  ENOTFOUND: ({ hostname }) => `the host ${hostname} does not exist (ENOTFOUND)`,
  EAI_AGAIN: ({ hostname }) => `the host ${hostname} could not be looked up (EAI_AGAIN)`,
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO/;

function describe(error: unknown, url: URL): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, code = '' } = error as Error & { code?: string };
  if (error.name === 'AbortError' && cause instanceof Error) return cause.message;
  if (CERTIFICATE.test(code)) {
    return (
      `the certificate of ${url.host} ` +
      `is not trusted (${code}): name its authority's file in NODE_EXTRA_CA_CERTS`
    );
  }
  // If a name has two addresses and neither answers, Node's error has an empty message.
  return MEANINGS[code]?.(url) ?? (error.message === '' ? code : error.message);
}
