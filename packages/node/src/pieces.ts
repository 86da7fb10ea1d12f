import { types } from 'node:util';
import { WebhookError, type WebhookErrorCode } from '@paylink/core';

/** In bytes. */
const LEAST = 256;

/**
 * The stream that raw-body reads, with the methods that it calls: an EventEmitter costs 5 to 10 %
 * of a request on node:http. Joins small pieces, because raw-body keeps a Buffer for each, and a
 * body in pieces of one byte would take two hundred times its length.
 */
export class Pieces {
  readonly #limit: number;
  #take: (piece: Uint8Array) => void = ignore;
  #finish: (error?: WebhookError) => void = ignore;
  #held: Uint8Array[] = [];
  #heldLength = 0;
  #length = 0;
  /** raw-body calls these methods at its end: `pause` since version 4. */
  readonly removeListener = ignore;
  readonly unpipe = ignore;
  readonly pause = ignore;

  /** @param limit in bytes. Passes a piece that exceeds it on immediately */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** raw-body has one listener for `end` and `error`, and ignores all events after the first. */
  on(event: string, listener: () => void): void {
    if (event === 'data') this.#take = listener;
    if (event === 'end') this.#finish = listener;
  }

  add(piece: unknown): void {
    // Other code may call `setEncoding` while the body arrives.
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (!types.isUint8Array(bytes)) return this.fail('incomplete_body');
    this.#held.push(bytes);
    this.#heldLength += bytes.length;
    this.#length += bytes.length;
    if (this.#heldLength >= LEAST || this.#length > this.#limit) this.#pass();
  }

  end(): void {
    this.#pass();
    this.#finish();
  }

  fail(code: WebhookErrorCode): void {
    this.#finish(new WebhookError(code));
  }

  #pass(): void {
    if (this.#held.length === 0) return;
    const piece = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldLength = 0;
    this.#take(piece);
  }
}

function ignore(): void {
  return;
}
