import { Transform, type TransformCallback } from 'node:stream';

const BLOCK = 4_096;

/**
 * Joins small pieces. raw-body keeps a Buffer for each piece, and one of 64 bytes takes eight times its bytes: a thousand slow
 * senders would cost half a gigabyte.
 */
export class GatherPieces extends Transform {
  readonly #limit: number;
  #block = Buffer.alloc(0);
  #used = 0;
  #received = 0;

  /** @param limit after so many bytes each piece is passed on at once, so that raw-body's count sees it */
  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#received += piece.length;
    for (let taken = 0; taken < piece.length;) {
      if (this.#used === this.#block.length) this.#startBlock(piece.length - taken);
      const copied = piece.copy(this.#block, this.#used, taken);
      taken += copied;
      this.#used += copied;
    }
    if (this.#received > this.#limit) this.#passOn();
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#passOn();
    done();
  }

  #startBlock(length: number): void {
    this.#passOn();
    // Not from the pool, which would live as long as the last of its pieces.
    this.#block = Buffer.allocUnsafeSlow(Math.max(BLOCK, length));
  }

  #passOn(): void {
    if (this.#used > 0) this.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}
