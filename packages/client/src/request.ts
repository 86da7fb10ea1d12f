/** One try: a request, and the JSON of its reply or a PaylinkError. */
import { withinBounds } from '@paylink/core';
import type { PaylinkError } from './errors.js';
import { interruption, meaningOf, refusal, withoutKey } from './failure.js';
import type { Settings } from './options.js';
import { discard, readReply, REPLY_LIMIT, ReplyTooLarge } from './reply.js';

/** A request as it is sent, and on a retry sent again. */
export interface Call {
  /** For messages. It does not name the reference, which can be personal data. */
  readonly endpoint: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly success: 200 | 201;
  readonly body?: string;
  readonly idempotencyKey?: string;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Sends the call once and gives the parsed body of its success. @throws PaylinkError */
export async function send(settings: Settings, call: Call, signal: AbortSignal): Promise<unknown> {
  const response = await receiveHead(settings, call, signal);
  if (isRedirect(response)) {
    discard(response);
    throw refusal(
      settings,
      call,
      response,
      'redirected',
      'was answered with a redirect, which is not followed: is baseUrl right?',
    );
  }
  if (response.status !== call.success) throw await failureOf(settings, call, response, signal);
  const body = await receiveBody(settings, call, response, signal);
  try {
    // Also a success: a quoting field would be printed with the payment.
    return withoutKey(JSON.parse(decoder.decode(body)), settings.apiKey);
  } catch {
    if (isCutOff(response, body))
      throw interruption(settings, call, new Error('it was cut off'), signal);
    throw refusal(
      settings,
      call,
      response,
      'invalid_response',
      'was answered with a body that is not JSON',
      body,
    );
  }
}

/**
 * Whether a body that is not JSON looks like the beginning of one. Without a Content-Length its end cannot be checked: Node's
 * `fetch` takes a chunked reply that ends early for complete if the connection was to be closed after it.
 */
function isCutOff({ headers }: Response, body: Uint8Array): boolean {
  return (
    headers.get('content-length') === null && (body.length === 0 || body[0] === '{'.charCodeAt(0))
  );
}

async function receiveHead(settings: Settings, call: Call, signal: AbortSignal): Promise<Response> {
  const init: RequestInit & { cache?: 'no-store' } = {
    method: call.method,
    headers: headersOf(settings, call),
    redirect: 'manual',
    signal,
  };
  if (call.body !== undefined) init.body = call.body;
  if (knowsCacheOption()) init.cache = 'no-store';
  try {
    return await withinBounds(settings.fetch(settings.baseUrl + call.path, init), {
      signals: [signal],
    });
  } catch (error) {
    throw interruption(settings, call, error, signal);
  }
}

async function receiveBody(
  settings: Settings,
  call: Call,
  response: Response,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    return await readReply(response, signal);
  } catch (error) {
    if (error instanceof ReplyTooLarge) {
      throw refusal(
        settings,
        call,
        response,
        'response_too_large',
        `was answered with more than ${REPLY_LIMIT} bytes`,
      );
    }
    throw interruption(settings, call, error, signal);
  }
}

function headersOf(
  { apiKey, authentication }: Settings,
  { body, idempotencyKey }: Call,
): Record<string, string> {
  return {
    Accept: 'application/json',
    ...(authentication === 'bearer'
      ? { Authorization: `Bearer ${apiKey}` }
      : { 'X-Api-Key': apiKey }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  };
}

let cacheOption: boolean | undefined;

/** Next.js may cache replies of `fetch` unless `no-store` is set, and a Worker of an old compatibility date throws when it is. */
function knowsCacheOption(): boolean {
  try {
    cacheOption ??=
      new Request('http://localhost', { cache: 'no-store' } as RequestInit).cache === 'no-store';
  } catch {
    cacheOption = false;
  }
  return cacheOption;
}

function isRedirect({ status, type, redirected }: Response): boolean {
  // The merchant's own fetch may have followed it, with the API key.
  return type === 'opaqueredirect' || redirected || (status > 299 && status < 400);
}

/** The error for a status other than success. Its body is read as far as it comes. */
async function failureOf(
  settings: Settings,
  call: Call,
  response: Response,
  signal: AbortSignal,
): Promise<PaylinkError> {
  let body: Uint8Array | undefined;
  try {
    body = await readReply(response, signal);
  } catch {
    // Without its body the status says enough, unless the caller has aborted.
    if (signal.aborted && (signal.reason as PaylinkError).code === 'aborted') throw signal.reason;
  }
  const [code, hint] = meaningOf(response.status);
  return refusal(settings, call, response, code, `was answered ${response.status}${hint}`, body);
}
