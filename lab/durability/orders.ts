import type { Book } from './book.js';

/** Hands out unpaid orders one by one, and adds more when they run out. */
export class Orders {
  readonly #book: Book;
  readonly #atOnce: number;
  #waiting: string[] = [];
  #adding: Promise<void> | undefined;

  constructor(book: Book, atOnce: number) {
    this.#book = book;
    this.#atOnce = atOnce;
  }

  async next(): Promise<string> {
    for (;;) {
      const reference = this.#waiting.pop();
      if (reference !== undefined) return reference;
      // All waiters share one promise.
      this.#adding ??= this.#add().finally(() => (this.#adding = undefined));
      await this.#adding;
    }
  }

  async #add(): Promise<void> {
    this.#waiting = await this.#book.addOrders(this.#atOnce);
  }
}
