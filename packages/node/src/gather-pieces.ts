import { EventEmitter } from 'node:events';
import { types } from 'node:util';

const SMALLEST = 4_096;
const LARGEST = 16_384;

/**
 * Joins small pieces on their way to raw-body, which keeps a Buffer for each piece: one of 64 bytes takes eight times its bytes, and a
 * thousand slow senders would cost half a gigabyte. Emits what raw-body listens for, without what a stream would keep for each request.
 */
export class GatherPieces extends EventEmitter {
  readonly #limit: number;
  readonly #declared: number;
  #block = Buffer.alloc(0);
  #used = 0;
  #received = 0;

  /**
   * @param limit after so many bytes each piece is passed on at once, so that raw-body's count sees it
   * @param declared no block is longer than what is still to come; what a hook's stream gives beyond it is joined all the same
   */
  constructor(limit: number, declared = Infinity) {
    super();
    this.#limit = limit;
    this.#declared = declared;
  }

  /** @param piece bytes, or a text, as a hook's stream may give; anything else is an `error` */
  readonly write = (piece: unknown): void => {
    // Checked, since Buffer.from makes a Buffer of any length of an object that has one.
    if (typeof piece === 'string') this.#add(Buffer.from(piece));
    else if (types.isUint8Array(piece)) this.#add(piece);
    else this.emit('error', new TypeError('the stream gave neither bytes nor a text'));
  };

  readonly end = (): void => {
    this.#passOn();
    this.emit('end');
  };

  /** Lets go of what has come, here and in raw-body. */
  close(): void {
    this.#block = Buffer.alloc(0);
    this.#used = 0;
    this.emit('close');
  }

  #add(piece: Uint8Array): void {
    for (let taken = 0; taken < piece.length;) {
      if (this.#used === this.#block.length) this.#startBlock(piece.length - taken);
      const part = piece.subarray(taken, taken + this.#block.length - this.#used);
      this.#block.set(part, this.#used);
      taken += part.length;
      this.#used += part.length;
      this.#received += part.length;
    }
    if (this.#received > this.#limit) this.#passOn();
  }

  #startBlock(length: number): void {
    this.#passOn();
    // As long as what has come, so that a sender of little holds little.
    const grown = Math.min(Math.max(this.#received, SMALLEST), LARGEST);
    const missing = this.#declared - this.#received;
    // Not from the pool, which would live as long as the last of its pieces.
    this.#block = Buffer.allocUnsafeSlow(Math.max(missing > 0 ? Math.min(grown, missing) : grown, length));
  }

  #passOn(): void {
    if (this.#used > 0) this.emit('data', this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}
