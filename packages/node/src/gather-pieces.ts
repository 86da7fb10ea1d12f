import { Transform, type TransformCallback } from 'node:stream';

const BLOCK = 4_096;

/**
 * Lays small pieces together. Whoever collects a body keeps a Buffer for each piece, and one of 64 bytes costs eight times its
 * bytes: a thousand slow senders would cost half a gigabyte.
 */
export class GatherPieces extends Transform {
  readonly #limit: number;
  #block = Buffer.alloc(0);
  #used = 0;
  #received = 0;

  /** @param limit past so many bytes nothing is held back any more, so that whoever counts them sees it at once */
  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#received += piece.length;
    if (this.#used + piece.length > this.#block.length) this.#startBlock(piece.length);
    piece.copy(this.#block, this.#used);
    this.#used += piece.length;
    if (this.#received > this.#limit) this.#handOn();
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#handOn();
    done();
  }

  #startBlock(length: number): void {
    this.#handOn();
    // Not from the pool, which would live as long as the last of its pieces.
    this.#block = Buffer.allocUnsafeSlow(Math.max(BLOCK, length));
  }

  #handOn(): void {
    if (this.#used > 0) this.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}
