/**
 * HMAC-SHA256 (RFC 2104) on Node's crypto. Exports the same names as hmac.web.ts. The `#hmac`
 * import in package.json chooses one of the two.
 *
 * Up to SMALL bytes, two one-shot calls of `crypto.hash` over prepared pads are faster than
 * `createHmac`. Tests compare both ways with the published vectors.
 */
import crypto from 'node:crypto';
import type { Eventual } from './eventual.js';

const BLOCK = 64;
const DIGEST = 32;
const SMALL = 16_384;

// Node has `crypto.hash` since 20.12. Other runtimes with node:crypto may lack it.
const hash = (crypto as Partial<typeof crypto>).hash;

export class HmacKey {
  // `inspect` and `JSON.stringify` show neither private fields nor a KeyObject's value.
  readonly #key: crypto.KeyObject;
  /** The inner pad, with room for a message after the pad. Grows with the messages. */
  #inner = Buffer.alloc(2 * BLOCK);
  /** The outer pad, with room for the inner digest after the pad. */
  readonly #outer = Buffer.alloc(BLOCK + DIGEST);

  constructor(secret: Uint8Array) {
    this.#key = crypto.createSecretKey(secret);
    const block =
      secret.length > BLOCK ? crypto.createHash('sha256').update(secret).digest() : secret;
    for (let index = 0; index < BLOCK; index++) {
      const byte = block[index] ?? 0;
      this.#inner[index] = byte ^ 0x36;
      this.#outer[index] = byte ^ 0x5c;
    }
  }

  /** Returns the lower-case hex MAC. */
  digest(body: Uint8Array): string {
    if (hash === undefined || body.length > SMALL) {
      return crypto.createHmac('sha256', this.#key).update(body).digest('hex');
    }
    const length = BLOCK + body.length;
    if (length > this.#inner.length) this.#grow(length);
    this.#inner.set(body, BLOCK);
    const digits = hash('sha256', this.#inner.subarray(0, length), 'binary');
    this.#outer.write(digits, BLOCK, 'binary');
    return hash('sha256', this.#outer, 'hex');
  }

  /** Never uses the pool of Buffers, whose memory a merchant's code can read. */
  #grow(length: number): void {
    const grown = Buffer.alloc(2 * length);
    grown.set(this.#inner.subarray(0, BLOCK));
    this.#inner = grown;
  }
}

/** True, because `findMatch` returns a number, not a promise. */
export const isSynchronous = true as boolean;

export async function sign(key: HmacKey, body: Uint8Array): Promise<string> {
  return key.digest(body);
}

// Outside the pool of Buffers, and reused: a comparison ends before the next one begins.
const RECEIVED = Buffer.alloc(2 * DIGEST);
const EXPECTED = Buffer.alloc(2 * DIGEST);

/**
 * Returns the index of the first key whose MAC of `body` is `signature`, or -1. Computes the MAC of
 * every key and never returns early. `signature` must be 64 lower-case hex digits.
 */
export function findMatch(
  keys: readonly HmacKey[],
  body: Uint8Array,
  signature: string,
): Eventual<number> {
  RECEIVED.write(signature, 'latin1');
  let match = -1;
  for (let index = keys.length - 1; index >= 0; index--) {
    // A branch would take its own time for the matching key.
    EXPECTED.write(keys[index]!.digest(body), 'latin1');
    const isMatch = Number(crypto.timingSafeEqual(EXPECTED, RECEIVED));
    match += (index - match) * isMatch;
  }
  return match;
}
