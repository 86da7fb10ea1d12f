/** Makes one try: sends a request, and returns the reply's JSON or throws a PaylinkError. */
import { isWebhookError } from '@paylink/core';
import { withinBounds } from '@paylink/core/internal';
import type { PaylinkError } from './errors.js';
import { failuresOf, meaningOf, withoutKey } from './failure.js';
import type { Settings } from './options.js';
import { discard, readReply, REPLY_LIMIT } from './reply.js';

/** A request. Retries send the same one. */
export interface Call {
  /** For messages. Omits the reference, which can be personal data. */
  readonly endpoint: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly success: 200 | 201;
  readonly body?: string;
  readonly idempotencyKey?: string;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Sends the call once and returns the parsed body of a success.
 *
 * @throws PaylinkError
 */
export async function send(settings: Settings, call: Call, signal: AbortSignal): Promise<unknown> {
  const { apiKey, baseUrl, fetch } = settings;
  const { refusal, interruption } = failuresOf(apiKey, call, signal);
  let response: Response;
  try {
    const asking = fetch(baseUrl + call.path, requestOf(settings, call, signal));
    response = await withinBounds(asking, { signals: [signal] });
  } catch (error) {
    throw interruption(error);
  }
  if (isRedirect(response)) {
    discard(response);
    const problem = 'got a redirect, which the client does not follow. Check baseUrl';
    throw refusal(response, 'redirected', problem);
  }
  const { status } = response;
  let body: Uint8Array | undefined;
  try {
    body = await readReply(response, signal);
  } catch (error) {
    if (status === call.success && isWebhookError(error)) {
      const problem = `got more than ${REPLY_LIMIT} bytes`;
      throw refusal(response, 'response_too_large', problem);
    }
    // Another status is clear without its body, unless the caller aborted.
    if (status === call.success || isAborted(signal)) throw interruption(error);
  }
  if (body === undefined || status !== call.success) {
    const [code, hint] = meaningOf(status);
    throw refusal(response, code, `got ${status}${hint}`, body);
  }
  try {
    // Removes the key from a success too, because the merchant may print the payment.
    return withoutKey(JSON.parse(decoder.decode(body)), apiKey);
  } catch {
    if (isCutOff(response, body)) throw interruption(new Error('the reply was cut off'));
    throw refusal(response, 'invalid_response', 'got a body that is not JSON', body);
  }
}

function isAborted({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as PaylinkError).code === 'aborted';
}

/**
 * Without a Content-Length the end of a body is uncertain: if the connection closes, Node's `fetch`
 * accepts a chunked reply that ends early.
 */
function isCutOff({ headers }: Response, body: Uint8Array): boolean {
  const isBeginning = body.length === 0 || body[0] === '{'.charCodeAt(0);
  return isBeginning && headers.get('content-length') === null;
}

function requestOf(settings: Settings, call: Call, signal: AbortSignal): RequestInit {
  return {
    method: call.method,
    headers: headersOf(settings, call),
    redirect: 'manual',
    signal,
    ...(call.body !== undefined && { body: call.body }),
    ...(knowsCacheOption() && { cache: 'no-store' }),
  };
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

/**
 * Next.js may cache replies unless the option is `no-store`, and a Worker with an old compatibility
 * date throws if the option is set.
 */
function knowsCacheOption(): boolean {
  try {
    return (
      new Request('http://localhost', { cache: 'no-store' } as RequestInit).cache === 'no-store'
    );
  } catch {
    return false;
  }
}

function isRedirect({ status, type, redirected }: Response): boolean {
  // The merchant's own fetch may have followed the redirect with the API key.
  return type === 'opaqueredirect' || redirected || (status > 299 && status < 400);
}
