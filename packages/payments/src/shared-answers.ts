/** Milliseconds for which calls reuse an answer, so that a polling page does not flood the API. */
const REUSED_FOR = 2_000;
const LIMIT = 10_000;

interface Shared<T> {
  readonly answer: Promise<T>;
  /** A value of `performance.now()`. Infinity until the answer arrives. */
  expiry: number;
}

/** Shares one request among all callers of a key, and reuses its answer, including a failure. */
export class SharedAnswers<T> {
  readonly #shared = new Map<string, Shared<T>>();

  /** Number of stored keys. The next request removes the oldest expired keys. */
  get size(): number {
    return this.#shared.size;
  }

  get(key: string, ask: () => Promise<T>): Promise<T> {
    const now = performance.now();
    const known = this.#shared.get(key);
    if (known !== undefined && known.expiry > now) return known.answer;
    this.#shared.delete(key);
    for (const [oldest, { expiry }] of this.#shared) {
      if (expiry > now && this.#shared.size < LIMIT) break;
      this.#shared.delete(oldest);
    }
    const shared: Shared<T> = { answer: ask(), expiry: Infinity };
    const settle = (): void => {
      shared.expiry = performance.now() + REUSED_FOR;
    };
    shared.answer.then(settle, settle);
    this.#shared.set(key, shared);
    return shared.answer;
  }
}
