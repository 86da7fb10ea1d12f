import { WebhookError } from '@paylink/core';
import { collectBody, withinBounds } from '@paylink/core/internal';

/** Maximum size in bytes of a reply, after decompression. */
export const REPLY_LIMIT = 1_048_576;

/**
 * Reads a reply's body up to the limit.
 *
 * @throws WebhookError `body_too_large`, the signal's reason, or the connection's error
 */
export async function readReply(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  if (Number(response.headers.get('content-length')) > REPLY_LIMIT) {
    discard(response);
    throw new WebhookError('body_too_large');
  }
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const read = () => withinBounds(reader.read(), { signals: [signal] });
  try {
    return await collectBody({ read }, REPLY_LIMIT);
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error;
  }
}

/** Cancels an unread reply, so that its connection is free again. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
