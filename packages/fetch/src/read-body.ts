import { WebhookError, type BodyLimits } from '@paylink/core';
import { collectBody, withinBounds } from '@paylink/core/internal';
import { letGo, type RequestReader } from './let-go.js';

/** The part of a Request that Paylink uses. Azure Functions has its own request class. */
export interface FetchRequest {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
  readonly body?: { readonly locked: boolean; getReader(): RequestReader } | null | undefined;
  readonly bodyUsed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
  readonly [READ]?: true;
}

const CONSUMED =
  'another webhook or other code read the body first, so the signed bytes are gone. Pass the ' +
  'request itself to the webhook, before request.json(), text() or formData(). Middleware may ' +
  'read request.clone()';

// Marks a request that a webhook has read. Symbol.for, because an application can contain two
// copies of this module.
const READ = Symbol.for('paylink.claimed');

/**
 * Reads the raw body once, piece by piece, because `arrayBuffer()` and `text()` have no limit.
 *
 * @throws WebhookError `body_consumed`, `body_too_large`, `body_timeout`, `incomplete_body`
 */
export async function readBody(
  request: FetchRequest,
  limits: BodyLimits,
  kept?: Promise<ArrayBuffer>,
): Promise<Uint8Array> {
  const { body, bodyUsed, [READ]: isByWebhook } = request;
  const isRead = kept === undefined && (bodyUsed === true || body?.locked === true);
  if (isRead || isByWebhook) throw new WebhookError('body_consumed', { message: CONSUMED });
  if (request.signal?.aborted) throw incomplete(request.signal.reason);
  const declared = request.headers.get('content-length');
  const rawBody = body === null ? new Uint8Array() : await readWithin(request, limits, kept);
  // If the sender leaves, some hosts end the body as if it were complete. Without a declared length
  // the signature decides, because other hosts (srvx) also abort the signal of a complete request.
  const isShort = declared !== null && rawBody.length !== Number(declared);
  if (isShort && request.signal?.aborted) throw incomplete(request.signal.reason);
  return rawBody;
}

async function readWithin(
  request: FetchRequest,
  { bodyLimit, bodyTimeout }: BodyLimits,
  kept: Promise<ArrayBuffer> | undefined,
): Promise<Uint8Array> {
  // Reflect.set does not throw if the host's request is frozen.
  Reflect.set(request, READ, true);
  const { body } = request;
  const isStream = kept === undefined && typeof body?.getReader === 'function';
  const reader = isStream ? body.getReader() : undefined;
  // A host without streams already has the whole body.
  const wholeBody = async () => new Uint8Array(await (kept ?? request.arrayBuffer()));
  const reading = reader ? collectBody(reader, bodyLimit) : wholeBody();
  try {
    const reason = (): WebhookError => new WebhookError('body_timeout');
    return await withinBounds(reading, { milliseconds: bodyTimeout, reason });
  } catch (error) {
    if (reader !== undefined) letGo(reader);
    throw error instanceof WebhookError ? error : incomplete(error);
  }
}

function incomplete(cause: unknown): WebhookError {
  return new WebhookError('incomplete_body', { cause });
}
