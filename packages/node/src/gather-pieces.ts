import { EventEmitter } from 'node:events';

const SMALLEST = 4_096;
const LARGEST = 16_384;

/**
 * Joins small pieces on their way to raw-body, which keeps a Buffer for each piece: one of 64 bytes takes eight times its bytes, and a
 * thousand slow senders would cost half a gigabyte. Emits what raw-body listens for, without what a stream would keep for each request.
 */
export class GatherPieces extends EventEmitter {
  readonly #expected: number;
  #block = Buffer.alloc(0);
  #used = 0;
  #received = 0;

  /** @param expected after so many bytes each piece is passed on at once, so that raw-body's count sees it */
  constructor(expected: number) {
    super();
    this.#expected = expected;
  }

  /** @param piece bytes, or a text, as a hook's stream may give; anything else is an `error` */
  readonly write = (piece: unknown): void => {
    try {
      this.#add(Buffer.isBuffer(piece) ? piece : Buffer.from(piece as string));
    } catch (error) {
      this.emit('error', error);
    }
  };

  readonly end = (): void => {
    this.#passOn();
    this.emit('end');
  };

  #add(piece: Buffer): void {
    for (let taken = 0; taken < piece.length;) {
      if (this.#used === this.#block.length) this.#startBlock(piece.length - taken);
      const copied = piece.copy(this.#block, this.#used, taken);
      taken += copied;
      this.#used += copied;
      this.#received += copied;
    }
    if (this.#received > this.#expected) this.#passOn();
  }

  #startBlock(length: number): void {
    this.#passOn();
    // As long as what has come, so that a sender of little holds little, and no longer than what is expected.
    const grown = Math.min(Math.max(this.#received, SMALLEST), LARGEST, this.#expected - this.#received);
    // Not from the pool, which would live as long as the last of its pieces.
    this.#block = Buffer.allocUnsafeSlow(Math.max(grown, length));
  }

  #passOn(): void {
    if (this.#used > 0) this.emit('data', this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}
