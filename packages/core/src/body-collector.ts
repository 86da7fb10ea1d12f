import { WebhookError } from './errors.js';

/** The length of the first buffer in bytes. */
const BLOCK = 4_096;

/**
 * Collects the pieces of a body under a limit, in one buffer: a small piece can keep many times its
 * length in memory. Keeps a single piece as it is, because most bodies are one piece.
 */
export class BodyCollector {
  readonly #bodyLimit: number;
  #buffer: Uint8Array = new Uint8Array();
  #length = 0;

  /** @param bodyLimit in bytes */
  constructor(bodyLimit: number) {
    this.#bodyLimit = bodyLimit;
  }

  /** @throws WebhookError `body_too_large` */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bodyLimit) throw new WebhookError('body_too_large');
    if (this.#length === 0) this.#buffer = piece;
    else {
      // Grows with the received bytes, never to the declared length.
      if (length > this.#buffer.length) this.#grow(Math.max(BLOCK, 2 * length));
      this.#buffer.set(piece, this.#length);
    }
    this.#length = length;
  }

  get body(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const grown = new Uint8Array(length);
    grown.set(this.body);
    this.#buffer = grown;
  }
}
