import { WebhookError } from './errors.js';

/** The length of the first buffer in bytes. */
const BLOCK = 4_096;

/**
 * Collects the pieces of a body in one buffer under a limit. Copies each piece, because a host may
 * use its memory again, and because a small piece can keep many times its length in memory.
 */
export class BodyCollector {
  readonly #bodyLimit: number;
  #buffer = new Uint8Array();
  #length = 0;

  /** @param bodyLimit in bytes */
  constructor(bodyLimit: number) {
    this.#bodyLimit = bodyLimit;
  }

  /** @throws WebhookError `body_too_large` */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bodyLimit) throw new WebhookError('body_too_large');
    if (length > this.#buffer.length) {
      // Grows with the received bytes, never to the declared length.
      const grown = new Uint8Array(Math.max(BLOCK, 2 * length));
      grown.set(this.body);
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /** The bytes so far. */
  get body(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }
}
