/**
 * HMAC-SHA256 (RFC 2104) on Node's crypto. Exports the same names as hmac.web.ts. The `#hmac`
 * import in package.json chooses one of the two.
 */
import crypto from 'node:crypto';

export class HmacKey {
  // `inspect` and `JSON.stringify` show neither private fields nor a KeyObject's value.
  readonly #key: crypto.KeyObject;

  constructor(secret: Uint8Array) {
    this.#key = crypto.createSecretKey(secret);
  }

  digest(body: Uint8Array): Buffer {
    return crypto.createHmac('sha256', this.#key).update(body).digest();
  }
}

export async function sign(key: HmacKey, body: Uint8Array): Promise<string> {
  return key.digest(body).toString('hex');
}

/**
 * Returns the index of the first key whose MAC of `body` is `signature`, or -1. Computes the MAC of
 * every key and never returns early. `signature` must be 64 lower-case hex digits.
 */
export async function findMatch(
  keys: readonly HmacKey[],
  body: Uint8Array,
  signature: string,
): Promise<number> {
  const received = Buffer.from(signature, 'hex');
  let match = -1;
  for (let index = keys.length - 1; index >= 0; index--) {
    // A branch would take its own time for the matching key.
    const isMatch = Number(crypto.timingSafeEqual(keys[index]!.digest(body), received));
    match += (index - match) * isMatch;
  }
  return match;
}
