/**
 * HMAC-SHA256 (RFC 2104) on WebCrypto, for runtimes without node:crypto. Exports the same names as
 * hmac.node.ts. Never calls `subtle.verify`, because some Node releases compare with memcmp there
 * (CVE-2026-21713).
 */
import { fromHex, toHex } from './bytes.js';
import type { Eventual } from './eventual.js';

const DIGEST = 32;
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

export class HmacKey {
  readonly #secret: Uint8Array<ArrayBuffer>;
  #imported: Awaited<ReturnType<typeof crypto.subtle.importKey>> | undefined;

  constructor(secret: Uint8Array) {
    this.#secret = new Uint8Array(secret);
  }

  async digest(body: Uint8Array): Promise<Uint8Array> {
    // A Worker forbids asynchronous work outside a request, and awaiting another request's promise.
    this.#imported ??= await crypto.subtle.importKey('raw', this.#secret, ALGORITHM, false, [
      'sign',
    ]);
    return new Uint8Array(await crypto.subtle.sign('HMAC', this.#imported, body));
  }
}

/** False, because `findMatch` returns a promise. */
export const isSynchronous = false as boolean;

export async function sign(key: HmacKey, body: Uint8Array): Promise<string> {
  return toHex(await key.digest(body));
}

/** Does the same as `findMatch` of hmac.node.ts. The common type lets one caller use both. */
export const findMatch: (
  keys: readonly HmacKey[],
  body: Uint8Array,
  signature: string,
) => Eventual<number> = async (keys, body, signature) => {
  const received = fromHex(signature)!;
  const digests = await Promise.all(keys.map((key) => key.digest(body)));
  let match = -1;
  for (let index = digests.length - 1; index >= 0; index--) {
    // A branch would take its own time for the matching key.
    match += (index - match) * Number(equal(digests[index]!, received));
  }
  return match;
};

/** Compares 32 bytes in constant time: always reads every byte. */
function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (let index = 0; index < DIGEST; index++) difference |= a[index]! ^ b[index]!;
  return difference === 0;
}
