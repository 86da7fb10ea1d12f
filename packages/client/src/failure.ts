/**
 * Creates the PaylinkError of a failed try. Errors never contain the API key, and messages never
 * quote a body.
 */
import { PaylinkError, type PaylinkErrorCode } from './errors.js';

const MEANINGS: Readonly<Record<number, [PaylinkErrorCode, string]>> = {
  401: ['unauthorized', ': check the API key and its environment'],
  403: ['forbidden', ': the API key may not do this'],
  404: ['not_found', ': the payment does not exist, or baseUrl is wrong'],
  409: ['conflict', ': the Idempotency-Key or the reference is taken, or another request uses it'],
  429: ['rate_limited', ': too many requests'],
};

/** Returns a status's error code, and the rest of the message. */
export function meaningOf(status: number): [PaylinkErrorCode, string] {
  if (status > 399 && status < 500)
    return MEANINGS[status] ?? ['rejected', ': `body` of this error may say why'];
  if (status > 499 && status < 600) return ['service_error', ': the service failed'];
  return ['unexpected_status', ', which is not a success status of this endpoint'];
}

export function failuresOf(
  apiKey: string,
  { endpoint, idempotencyKey }: { readonly endpoint: string; readonly idempotencyKey?: string },
  signal: AbortSignal,
) {
  const refusal = (
    { status, headers }: Response,
    code: PaylinkErrorCode,
    problem: string,
    body?: Uint8Array,
  ): PaylinkError =>
    new PaylinkError(code, `${endpoint} ${problem}`, {
      status,
      requestId: parseRequestId(headers, apiKey),
      retryAfter: parseRetryAfter(headers),
      idempotencyKey,
      body: body && readable(body, apiKey),
    });
  const interruption = (error: unknown): PaylinkError => {
    if (signal.aborted) return signal.reason as PaylinkError;
    const cause = describe(error, apiKey);
    const message = `${endpoint} got no complete reply: ${cause.message}`;
    return new PaylinkError('network_error', message, { idempotencyKey, cause });
  };
  return { refusal, interruption };
}

export function parseRequestId(headers: Headers, apiKey: string): string | undefined {
  const id = headers.get('x-request-id') ?? headers.get('request-id') ?? '';
  return /^[\x21-\x7e]{1,128}$/.test(id) && withoutKey(id, apiKey) === id ? id : undefined;
}

/**
 * Returns the milliseconds of a `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date, which
 * counts from the reply's own `Date`, because this machine's clock may differ. Ignores others.
 */
export function parseRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const until = parseDate(text);
  return until && Math.max(0, until - (parseDate(headers.get('date')) ?? Date.now()));
}

/** Parses a date in the form that RFC 9110 requires of senders. */
function parseDate(text: string | null): number | undefined {
  const form = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
  return text !== null && form.test(text) ? Date.parse(text) || undefined : undefined;
}

function readable(body: Uint8Array, apiKey: string): unknown {
  const text = new TextDecoder().decode(body);
  try {
    return withoutKey(JSON.parse(text), apiKey);
  } catch {
    return withoutKey(text, apiKey);
  }
}

/** Returns a copy without the API key and its secret half. Resolves JSON's escapes first. */
export function withoutKey(value: unknown, apiKey: string): unknown {
  if (typeof value === 'string') {
    const secretPart = apiKey.slice(apiKey.indexOf('.') + 1);
    const text = value.replaceAll(apiKey, '[API key]');
    // Keeps a shorter text, which could be part of other words. No service issues such a secret.
    return secretPart.length < 8 ? text : text.replaceAll(secretPart, '[API key]');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutKey(item, apiKey));
  const entries = Object.entries(value).map(
    ([name, item]) => [withoutKey(name, apiKey), withoutKey(item, apiKey)] as const,
  );
  return Object.fromEntries(entries as [string, unknown][]);
}

/**
 * Copies the messages of a network error. Drops the error itself, because the merchant's own
 * `fetch` or an HTTP library may attach the request with its headers.
 */
function describe(error: unknown, apiKey: string): Error {
  const texts: string[] = [];
  let code: string | undefined;
  let link = error as { message?: unknown; code?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; link instanceof Object && depth < 4; depth++) {
    const { message, code: own } = link;
    const isCode = typeof own === 'string' && /^[A-Z0-9_]{1,64}$/.test(own);
    if (isCode) code ??= own;
    // If no address of a host accepts a connection, the error has a code and no message.
    const text = message === '' && isCode ? own : message;
    if (typeof text === 'string' && text !== '') texts.push(text);
    link = link.cause as typeof link;
  }
  const message = (texts.join(': ') || code) ?? 'no reason given';
  const description = new Error(String(withoutKey(message, apiKey)).slice(0, 300));
  return code === undefined ? description : Object.assign(description, { code });
}
