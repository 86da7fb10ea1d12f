import { Transform, type TransformCallback } from 'node:stream';
import { types } from 'node:util';

const BLOCK = 4_096;

/**
 * Copies small pieces of a body into blocks. raw-body keeps a Buffer per piece, and a small Buffer
 * takes many times its length. A thousand slow senders would take half a gigabyte.
 */
export class JoinPieces extends Transform {
  #block = Buffer.alloc(0);
  #used = 0;

  constructor() {
    // Object mode turns the objects of a hook's stream into an error of this stream instead of a
    // throw.
    super({ writableObjectMode: true });
  }

  override _transform(piece: unknown, _encoding: string, done: TransformCallback): void {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (!types.isUint8Array(bytes)) {
      done(new TypeError('the stream must emit bytes or text'));
      return;
    }
    if (this.#used + bytes.length > this.#block.length) this.#passOn();
    if (bytes.length >= BLOCK) {
      this.push(bytes);
    } else {
      // Uses memory outside the shared pool, because the pool would live as long as this block.
      if (this.#used === 0) this.#block = Buffer.allocUnsafeSlow(BLOCK);
      this.#block.set(bytes, this.#used);
      this.#used += bytes.length;
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#passOn();
    done();
  }

  #passOn(): void {
    if (this.#used > 0) this.push(this.#block.subarray(0, this.#used));
    this.#used = 0;
  }
}
