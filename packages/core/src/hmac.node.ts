/**
 * HMAC-SHA256 (RFC 2104) on Node's crypto. Same exports as hmac.web.ts, whose answers are promises; package.json's `#hmac`
 * chooses.
 *
 * Up to SMALL bytes, two one-shot calls of `crypto.hash` over prepared pads take half the time of `createHmac`; above it
 * the copy costs more than it saves. Tests compare every way of this file with the vectors and with `createHmac`.
 */
import crypto from 'node:crypto';

const BLOCK = 64;
const DIGEST = 32;
const SMALL = 32_768;

/** Whether arrays can read hex: on Deno, `Buffer.write` of a digest takes as long as its hash. */
const readsHex = 'setFromHex' in Uint8Array.prototype;
/** How a digest is passed on: as a text, which costs less than a Buffer. */
const DIGITS = readsHex ? 'hex' : 'binary';

interface HexArray {
  setFromHex(hex: string): unknown;
}

/** Whether `sign` and `findMatch` answer at once, so that no other code can change the bytes between the check and the parse. */
export const synchronous = true;

// Buffer.alloc, never the shared pool: the pads are as good as the key.
const message = Buffer.alloc(BLOCK + SMALL);
const expected = Buffer.alloc(DIGEST);
const given = Buffer.alloc(DIGEST);

// The inner pad that is in `message`: nearly always that of the key before.
let prepared: Buffer | undefined;

// Node 20.12 has it; other runtimes that offer node:crypto may not.
const hash = (crypto as Partial<typeof crypto>).hash;

export class HmacKey {
  // Private fields, and a KeyObject: neither `inspect` nor `JSON.stringify` shows them.
  readonly #inner = Buffer.alloc(BLOCK, 0x36);
  readonly #outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);
  readonly #innerDigest = this.#outer.subarray(BLOCK);
  readonly #key: crypto.KeyObject;

  constructor(secret: Uint8Array) {
    // A KeyObject, because some releases of Node take ten times as long for the same key in a Buffer.
    this.#key = crypto.createSecretKey(secret);
    const block = secret.length > BLOCK ? crypto.createHash('sha256').update(secret).digest() : secret;
    for (const [index, byte] of block.entries()) {
      this.#inner[index]! ^= byte;
      this.#outer[index]! ^= byte;
    }
  }

  /** The MAC in DIGITS. */
  digest(body: Uint8Array): string {
    if (hash === undefined || body.length > SMALL) {
      return crypto.createHmac('sha256', this.#key).update(body).digest(DIGITS);
    }
    if (prepared !== this.#inner) {
      message.set(this.#inner);
      prepared = this.#inner;
    }
    message.set(body, BLOCK);
    const padded = new Uint8Array(message.buffer, message.byteOffset, BLOCK + body.length);
    fill(this.#innerDigest, hash('sha256', padded, DIGITS), DIGITS);
    return hash('sha256', this.#outer, DIGITS);
  }
}

function fill(bytes: Buffer, digits: string, encoding: 'hex' | 'binary'): void {
  if (readsHex) (bytes as unknown as HexArray).setFromHex(digits);
  else bytes.write(digits, encoding);
}

export function sign(key: HmacKey, body: Uint8Array): string | Promise<string> {
  return Buffer.from(key.digest(body), DIGITS).toString('hex');
}

/**
 * The index of the first key whose MAC of `body` is `signature`, or -1. Every key is computed, and none returns early.
 * `signature` must have the shape of one (64 lower-case hex digits): anything else would be cut short or aliased here.
 */
export function findMatch(keys: readonly HmacKey[], body: Uint8Array, signature: string): number | Promise<number> {
  fill(given, signature, 'hex');
  let match = -1;
  for (let index = keys.length - 1; index >= 0; index--) {
    fill(expected, keys[index]!.digest(body), DIGITS);
    // Without a branch, which would take its own time for the key that fits.
    match += (index - match) * Number(crypto.timingSafeEqual(expected, given));
  }
  return match;
}

/** SHA-256 of a text's UTF-8 bytes in hex. */
export function sha256(text: string): string | Promise<string> {
  return hash === undefined ? crypto.createHash('sha256').update(text).digest('hex') : hash('sha256', text, 'hex');
}
