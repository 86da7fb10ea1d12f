import type { Database } from './database.js';
import type { Marks } from './marks.js';
import { explained } from './store-error.js';

/**
 * The table of the marks by its schema, looked up once. A handler or other code of the pool can leave another `search_path` behind on a
 * connection, and a table of the same name found by that one would know nothing of what is done.
 */
export class LocatedTable {
  readonly #database: Pick<Database<unknown>, 'query'>;
  readonly #marks: Marks;
  #located: Promise<Marks> | undefined;

  constructor(database: Pick<Database<unknown>, 'query'>, marks: Marks) {
    this.#database = database;
    this.#marks = marks;
  }

  marks(): Promise<Marks> {
    this.#located ??= this.#locate();
    return this.#located;
  }

  async #locate(): Promise<Marks> {
    if (this.#marks.isQualified) return this.#marks;
    try {
      const [row] = await explained(this.#database.query(this.#marks.whereItIs()));
      if (row !== undefined) return this.#marks.in((row as { readonly schema: string }).schema);
    } catch (error) {
      this.#located = undefined;
      throw error;
    }
    // It is missing: whoever uses it next is told so by the server.
    this.#located = undefined;
    return this.#marks;
  }
}
