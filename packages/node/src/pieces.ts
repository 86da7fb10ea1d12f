import { types } from 'node:util';
import { WebhookError, type WebhookErrorCode } from '@paylink/core';

// In bytes.
const LEAST = 256;

type Listener = (value?: unknown) => void;

/**
 * The stream that raw-body reads, with the methods that it calls: an EventEmitter costs 5 to 10 %
 * of a request on node:http. Joins small pieces, because raw-body keeps a Buffer for each, and a
 * body in pieces of one byte would take two hundred times its length.
 */
export class Pieces {
  readonly #limit: number;
  readonly #listeners: Record<string, Listener> = { data: ignore, end: ignore, error: ignore };
  #held: Uint8Array[] = [];
  #heldLength = 0;
  #length = 0;
  isOver = false;

  /** @param limit in bytes: a piece that exceeds it is passed on at once */
  constructor(limit: number) {
    this.#limit = limit;
  }

  on(event: string, listener: Listener): void {
    this.#listeners[event] = listener;
  }

  removeListener(event: string): void {
    this.#listeners[event] = ignore;
  }

  readonly unpipe = ignore;

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
    this.#listeners['end']!();
  }

  fail(code: WebhookErrorCode): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#listeners['error']!(new WebhookError(code));
  }

  #pass(): void {
    if (this.#held.length === 0) return;
    const piece = this.#held.length === 1 ? this.#held[0] : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldLength = 0;
    this.#listeners['data']!(piece);
  }
}

function ignore(): void {
  return;
}
