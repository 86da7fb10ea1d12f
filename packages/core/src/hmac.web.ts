/**
 * HMAC-SHA256 (RFC 2104) on WebCrypto, for runtimes without node:crypto. Same exports as hmac.node.ts.
 *
 * `subtle.verify` is not used: on some releases of Node it compares with memcmp (CVE-2026-21713).
 */
const DIGEST = 32;
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

export const synchronous = false;

export class HmacKey {
  readonly #secret: Uint8Array<ArrayBuffer>;
  #imported: Awaited<ReturnType<typeof crypto.subtle.importKey>> | undefined;

  constructor(secret: Uint8Array) {
    this.#secret = new Uint8Array(secret);
  }

  async digest(body: Uint8Array): Promise<Uint8Array> {
    // Imported on first use, and the key is kept rather than its promise: a Worker forbids both asynchronous work outside
    // of a request and waiting for another request's promise.
    this.#imported ??= await crypto.subtle.importKey('raw', this.#secret, ALGORITHM, false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('HMAC', this.#imported, body));
  }
}

export async function sign(key: HmacKey, body: Uint8Array): Promise<string> {
  return toHex(await key.digest(body));
}

export async function findMatch(keys: readonly HmacKey[], body: Uint8Array, signature: string): Promise<number> {
  const given = fromHex(signature);
  const digests = await Promise.all(keys.map((key) => key.digest(body)));
  let match = -1;
  for (let index = digests.length - 1; index >= 0; index--) {
    // Without a branch, which would take its own time for the key that fits.
    match += (index - match) * Number(equal(digests[index]!, given));
  }
  return match;
}

export async function sha256(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** Compares 32 bytes in constant time: every byte is looked at, whatever the others were. */
function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (let index = 0; index < DIGEST; index++) difference |= a[index]! ^ b[index]!;
  return difference === 0;
}

function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(DIGEST);
  for (let index = 0; index < DIGEST; index++) bytes[index] = Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16);
  return bytes;
}
