/** Makes one try: sends a request, and returns the reply's JSON or throws a PaylinkError. */
import { isWebhookError, WebhookError } from '@paylink/core';
import { collectBody, withinBounds } from '@paylink/core/internal';
import type { PaylinkError } from './errors.js';
import { failuresOf, meaningOf, parseRequestId, withoutKey } from './failure.js';
import type { Settings } from './options.js';

/** Maximum size in bytes of a reply, after decompression. */
const REPLY_LIMIT = 1_048_576;

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

export interface Reply {
  readonly json: unknown;
  readonly requestId: string | undefined;
}

const NO_STORE = { cache: 'no-store' } as RequestInit;
const decoder = new TextDecoder('utf-8', { fatal: true });

export async function send(settings: Settings, call: Call, signal: AbortSignal): Promise<Reply> {
  const { apiKey, baseUrl, fetch } = settings;
  const { refusal, interruption } = failuresOf(apiKey, call, signal);
  let response: Response;
  try {
    const asking = fetch(baseUrl + call.path, requestOf(settings, call, signal));
    response = await withinBounds(asking, { signals: [signal] });
  } catch (error) {
    throw interruption(error);
  }
  const { status, type, redirected } = response;
  // The merchant's own fetch may have followed the redirect with the API key.
  if (type === 'opaqueredirect' || redirected || (status > 299 && status < 400)) {
    discard(response);
    const problem = 'received a redirect, which the client does not follow. Check baseUrl';
    throw refusal(response, 'redirected', problem);
  }
  const isSuccess = status === call.success;
  const body = await readReply(response, signal).catch((error: unknown) => {
    if (isSuccess && isWebhookError(error))
      throw refusal(response, 'response_too_large', `got more than ${REPLY_LIMIT} bytes`);
    // Another status is clear without its body, unless the caller aborted.
    const isAborted = signal.aborted && (signal.reason as PaylinkError).code === 'aborted';
    if (isSuccess || isAborted) throw interruption(error);
    return undefined;
  });
  if (!isSuccess) {
    const [code, hint] = meaningOf(status);
    throw refusal(response, code, `got ${status}${hint}`, body);
  }
  try {
    // Removes the key from a success too, because the merchant may print the payment.
    const json = withoutKey(JSON.parse(decoder.decode(body)), apiKey);
    return { json, requestId: parseRequestId(response.headers, apiKey) };
  } catch {
    throw refusal(response, 'invalid_response', 'received a body that is not JSON', body);
  }
}

function requestOf(
  { apiKey, authentication }: Settings,
  { method, body, idempotencyKey }: Call,
  signal: AbortSignal,
): RequestInit {
  const headers = {
    Accept: 'application/json',
    ...(authentication === 'bearer'
      ? { Authorization: `Bearer ${apiKey}` }
      : { 'X-Api-Key': apiKey }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
  };
  return {
    method,
    headers,
    redirect: 'manual',
    signal,
    ...(body !== undefined && { body }),
    ...(knowsCacheOption() && NO_STORE),
  };
}

/**
 * Next.js may cache replies unless the option is `no-store`, and a Worker with an old compatibility
 * date throws if the option is set.
 */
function knowsCacheOption(): boolean {
  try {
    return new Request('http://localhost', NO_STORE).cache === 'no-store';
  } catch {
    return false;
  }
}

/** @throws WebhookError `body_too_large`, the signal's reason, or the connection's error */
async function readReply(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  if (Number(response.headers.get('content-length')) > REPLY_LIMIT) {
    discard(response);
    throw new WebhookError('body_too_large');
  }
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) return new Uint8Array();
  const read = () => withinBounds(reader.read(), { signals: [signal] });
  return collectBody({ read }, REPLY_LIMIT).catch((error: unknown) => {
    reader.cancel().catch(() => undefined);
    throw error;
  });
}

/** Cancels an unread reply, so that its connection is free again. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
