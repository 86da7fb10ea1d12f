import { EventEmitter } from 'node:events';
import { types } from 'node:util';
import { WebhookError, type WebhookErrorCode } from '@paylink/core';

/** The least length of a piece in bytes. */
const LEAST = 256;

/**
 * The stream that raw-body reads. Joins small pieces, because raw-body keeps a Buffer for each: a
 * body in pieces of one byte would take two hundred times its length.
 */
export class Pieces extends EventEmitter {
  readonly #limit: number;
  #held: Uint8Array[] = [];
  #heldLength = 0;
  #length = 0;
  isOver = false;

  /** @param limit in bytes: a piece that exceeds it is passed on at once */
  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  add(piece: unknown): void {
    // The stream of a host's hook may give texts or objects.
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (!types.isUint8Array(bytes)) return this.fail('incomplete_body');
    this.#held.push(bytes);
    this.#heldLength += bytes.length;
    this.#length += bytes.length;
    if (this.#heldLength >= LEAST || this.#length > this.#limit) this.#pass();
  }

  end(): void {
    this.#pass();
    this.isOver = true;
    this.emit('end');
  }

  fail(code: WebhookErrorCode): void {
    if (this.isOver) return;
    this.isOver = true;
    this.emit('error', new WebhookError(code));
  }

  #pass(): void {
    if (this.isOver) return;
    const [first] = this.#held;
    if (first !== undefined)
      this.emit('data', this.#held.length === 1 ? first : Buffer.concat(this.#held));
    this.#held = [];
    this.#heldLength = 0;
  }
}
