/** Milliseconds for whatever the merchant's code or his database does, a deadlock included. */
export const LONGEST_WAIT = 30_000;

/** Lets code wait until something holds that events bring about. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  tell(): void {
    for (const look of this.#waiting) look();
  }

  /** Resolves with true once `test` holds, and with false after the time. */
  async until(test: () => boolean, milliseconds = LONGEST_WAIT): Promise<boolean> {
    if (test()) return true;
    return new Promise((resolve) => {
      const end = (result: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(result);
      };
      const look = (): void => {
        if (test()) end(true);
      };
      const timer = setTimeout(end, milliseconds, false);
      this.#waiting.add(look);
    });
  }
}
