import { WebhookError } from './errors.js';

/** A reader of a body, such as the default reader of a `ReadableStream`. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

const BLOCK = 4_096;

/**
 * Reads a body to its end, into one buffer: a small piece can keep many times its length in memory,
 * and a host may reuse a piece's memory.
 *
 * @param bodyLimit in bytes
 * @throws WebhookError `body_too_large`, or the reader's error
 */
export async function collectBody(reader: BodyReader, bodyLimit: number): Promise<Uint8Array> {
  let buffer = new Uint8Array(BLOCK);
  let length = 0;
  for (;;) {
    const { done, value: piece } = await reader.read();
    if (done || piece === undefined) return buffer.subarray(0, length);
    // A number has no length, and the length of a text counts characters.
    if (!ArrayBuffer.isView(piece)) throw new TypeError('a piece of the body is not bytes');
    const total = length + piece.length;
    if (total > bodyLimit) throw new WebhookError('body_too_large');
    if (total > buffer.length) {
      // Grows with the received bytes, never to the declared length.
      const grown = new Uint8Array(2 * total);
      grown.set(buffer);
      buffer = grown;
    }
    buffer.set(piece, length);
    length = total;
  }
}
