import { PaylinkError } from './errors.js';

/** Number of keys to remember with their links, about 4 MB at most. */
const REMEMBERED = 10_000;

/**
 * Validates the caller's key, or makes a random one.
 *
 * @throws PaylinkError `invalid_idempotency_key`
 */
export function validateIdempotencyKey(key: unknown): string {
  if (key === undefined) return crypto.randomUUID();
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key) || key.trim() !== key) {
    throw new PaylinkError(
      'invalid_idempotency_key',
      'idempotencyKey must be 1 to 255 characters of printable ASCII, and must not start ' +
        'or end with whitespace. To make a key from a reference, use its SHA-256 in hex',
    );
  }
  return key;
}

/**
 * Remembers the last link of each key. If a caller reuses a key for another link, the service may
 * return the old link with the old amount, or an error (docs/service.md 4.1.4 leaves this open).
 */
export class SentKeys {
  readonly #links = new Map<string, string>();

  /**
   * Returns true if the key is new.
   *
   * @throws PaylinkError `idempotency_key_reused`
   */
  async remember(key: string, json: string): Promise<boolean> {
    const fingerprint = await sha256(json);
    const known = this.#links.get(key);
    if (known !== undefined && known !== fingerprint) {
      throw new PaylinkError(
        'idempotency_key_reused',
        'this idempotencyKey was used for a different link: use a new key ' +
          'whenever a field changes, such as the amount',
        { idempotencyKey: key },
      );
    }
    // Moves the key to the end, so that the least recently used key is forgotten first.
    this.#links.delete(key);
    this.#links.set(key, fingerprint);
    if (this.#links.size > REMEMBERED) this.#links.delete(this.#links.keys().next().value!);
    return known === undefined;
  }

  forget(key: string): void {
    this.#links.delete(key);
  }
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return new Uint8Array(digest).join();
}
