import { withinBounds } from '@paylink/core';

/** Maximum size in bytes of a reply, after decompression. */
export const REPLY_LIMIT = 1_048_576;

export class ReplyTooLarge extends Error {}

/**
 * Reads a reply's body up to the limit.
 *
 * @throws ReplyTooLarge, the signal's reason, or the connection's error
 */
export async function readReply(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  if (Number(response.headers.get('content-length')) > REPLY_LIMIT) {
    discard(response);
    throw new ReplyTooLarge();
  }
  return response.body === null ? new Uint8Array() : readBytes(response.body, signal);
}

async function readBytes(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await withinBounds(reader.read(), { signals: [signal] });
      if (done) return join(chunks, length);
      length += value.byteLength;
      if (length > REPLY_LIMIT) throw new ReplyTooLarge();
      chunks.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error;
  }
}

/** Cancels an unread reply, so that its connection is free again. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
