/** Bounds concurrent work. Further work waits in the order of arrival. */
export class Lanes {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken >= this.#most) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    else this.#taken++;
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  /** Hands the lane to the first waiter, so that no later one overtakes it. */
  #pass(): void {
    const next = this.#waiting.values().next().value;
    if (next === undefined) {
      this.#taken--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
