/** Delete this function if your orders have the index. */
export async function createTable(): Promise<void> {
  CREATE;
}
