import { throwIfAborted, untilAborted } from './deadline.js';
import type { Item, ReferenceOrder } from './reference-order.js';

/**
 * Calls `work` for each item as it comes, `concurrency` at a time, and takes no item before there is a place for it. `work` must
 * not reject. Settles when nothing runs any more.
 *
 * @param isEnough whether no more items are to be taken
 * @throws what the items threw, or PaylinkError `aborted`
 */
export async function inParallel(
  items: ReferenceOrder,
  concurrency: number,
  signal: AbortSignal | undefined,
  isEnough: () => boolean,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  try {
    while (!isEnough()) {
      throwIfAborted(signal);
      const next = await untilAborted(items.next(), signal);
      if (next.done === true) return;
      const task: Promise<void> = work(next.value).finally(() => running.delete(task));
      running.add(task);
      if (running.size >= concurrency) await Promise.race(running);
    }
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  } finally {
    await Promise.all(running);
    items.close();
  }
}
