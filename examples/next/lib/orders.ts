const paid = new Set<string>();

/** Stands in for a shop's database, where a unique key replaces this set. */
export async function creditOrder(reference: string): Promise<void> {
  if (paid.has(reference)) return;
  paid.add(reference);
  console.log(`credited ${reference}`);
}
