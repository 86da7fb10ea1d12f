const paid = new Set<string>();

/** Stands for a shop's database, where a unique key does what the set does here. */
export async function creditOrder(reference: string): Promise<void> {
  if (paid.has(reference)) return;
  paid.add(reference);
  console.log(`credited ${reference}`);
}
