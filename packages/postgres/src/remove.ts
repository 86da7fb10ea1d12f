/** Removes an item of a list. Gives whether it was there. */
export function remove<Item>(list: Item[], item: Item): boolean {
  const index = list.indexOf(item);
  if (index < 0) return false;
  list.splice(index, 1);
  return true;
}
