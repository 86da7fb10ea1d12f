import { throwIfAborted, untilAborted } from './deadline.js';

/**
 * Calls `work` for each item as it comes, `concurrency` at a time, and asks for no item before there is a place for it. `work`
 * must not reject. Settles when nothing runs any more.
 *
 * @throws what the items threw, or PaylinkError `aborted`
 */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  signal: AbortSignal | undefined,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const running = new Set<Promise<void>>();
  let exhausted = false;
  try {
    for (;;) {
      throwIfAborted(signal);
      const next: IteratorResult<T, unknown> = await untilAborted(Promise.resolve(iterator.next()), signal);
      exhausted = next.done === true;
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
    if (!exhausted) close(iterator);
  }
}

/** Tells the source that no more is wanted, so that a cursor behind it can be let go. It is not waited for: it may hang. */
function close(iterator: Iterator<unknown> | AsyncIterator<unknown>): void {
  try {
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  } catch {
    // Why the items ended early is what the caller is told.
  }
}
