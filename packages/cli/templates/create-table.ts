const TABLE = `SQL`;

/**
 * If your orders already have a table, delete this function and use your columns above. Set the
 * credit's column on orders that are already paid, or Paylink can credit them again.
 */
export async function createTable(): Promise<void> {
  CREATE;
}
