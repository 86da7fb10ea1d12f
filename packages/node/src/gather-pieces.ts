import { EventEmitter } from 'node:events';
import { types } from 'node:util';

/** Bytes by which there is at least room for more. */
const ROOM = 4_096;
const NOTHING = Buffer.alloc(0);

/**
 * Joins small pieces on their way to raw-body, which keeps a Buffer for each piece: one of 64 bytes takes eight times its bytes, and a
 * thousand slow senders would cost half a gigabyte. Emits what raw-body listens for, without what a stream would keep for each request.
 */
export class GatherPieces extends EventEmitter {
  readonly #limit: number;
  readonly #declared: number;
  #bytes = NOTHING;
  #used = 0;
  /** Those that were passed on, too. */
  #received = 0;

  /**
   * @param limit after so many bytes each piece is passed on at once, so that raw-body's count sees it
   * @param declared there is no room for more than this, unless more comes: a hook's stream may give it
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
    this.#letGo();
    this.emit('close');
  }

  #add(piece: Uint8Array): void {
    this.#received += piece.length;
    const used = this.#used + piece.length;
    if (used > this.#bytes.length) this.#makeRoom(used);
    this.#bytes.set(piece, this.#used);
    this.#used = used;
    if (this.#received > this.#limit) this.#passOn();
  }

  /** By what has come, never by what was declared: a sender of little holds little. By a half of it, so that each byte moves a few times. */
  #makeRoom(used: number): void {
    const grown = used + Math.max(ROOM, used >> 1);
    const most = used > this.#declared ? this.#limit : Math.min(this.#declared, this.#limit);
    // Not from the pool, which would live as long as the last of its pieces.
    const bytes = Buffer.allocUnsafeSlow(Math.max(used, Math.min(grown, most)));
    bytes.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = bytes;
  }

  #passOn(): void {
    const bytes = this.#bytes.subarray(0, this.#used);
    this.#letGo();
    if (bytes.length > 0) this.emit('data', bytes);
  }

  #letGo(): void {
    this.#bytes = NOTHING;
    this.#used = 0;
  }
}
