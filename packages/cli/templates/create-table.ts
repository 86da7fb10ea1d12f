const TABLE = `SQL`;

/** If your orders have a table, delete this function, and name your columns above. */
export async function createTable(): Promise<void> {
  CREATE;
}
