const TABLE = `SQL`;

/**
 * If your orders have a table, delete this function, and name your columns above. Set the column
 * of the credit on orders that are already paid, or Paylink can credit them again.
 */
export async function createTable(): Promise<void> {
  CREATE;
}
