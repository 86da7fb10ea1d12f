import { clearTimeout, setTimeout } from 'node:timers';

/** Notifies open pages of changes, at limited intervals. */
export class Changes {
  readonly #listeners = new Set<() => void>();
  readonly #interval: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param interval milliseconds between two notifications: a burst of changes causes one */
  constructor(interval = 150) {
    this.#interval = interval;
  }

  readonly tell = (): void => {
    if (this.#listeners.size === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const listener of this.#listeners) listener();
    }, this.#interval);
  };

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }
}
