/** Distinguishes the row count of the conditional write from any other count. */
import type { NewOrder } from './order.js';
import type { Shop } from './shop.js';

export const COUNT =
  'Count only the rows of the conditional write: no constant, no later SELECT, no further writes.' +
  ' Make further writes only if it changed a row.';

export const printCount = (count: number | null | undefined): string =>
  count === undefined ? 'threw' : `returned ${count}`;

/**
 * Returns false if `credit` counts a payment of a different amount and currency that left its order
 * unpaid, or one for a paid order: such a condition cannot hold there either.
 */
export async function countsWrites(shop: Shop): Promise<boolean> {
  const order = await shop.create();
  const wrong: NewOrder = { ...order, amount: order.amount + 1, currency: 'USD' };
  const before = await shop.tryCredit(wrong);
  if (await shop.isPaid(order)) return true;
  if ((before ?? 0) > 0) return false;
  await shop.tryCredit(order);
  return ((await shop.tryCredit(wrong)) ?? 0) === 0;
}
