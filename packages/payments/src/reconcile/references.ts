/** Orders the references of a run, and makes the cursor for the next run. */
import { check } from '@paylink/core/internal';

/** All references at once, or an iterable that reads them from a database, the oldest first. */
export type References = (Iterable<string> & object) | AsyncIterable<string>;

export interface Item {
  readonly reference: string;
  /** Index in the merchant's list. */
  readonly index: number;
  /** Position in this run. */
  readonly order: number;
}

type Start = Omit<Item, 'order'>;

/** @throws ConfigurationError */
export function checkReferences(references: unknown): void {
  // Rejects a string, which is iterable by its characters.
  const isList = typeof references === 'object' && references !== null;
  check(
    isList && (Symbol.iterator in references || Symbol.asyncIterator in references),
    'references',
    'must be an iterable or async iterable of references, such as an array',
  );
}

/** Contains index and reference, because an order paid in the meantime is no longer in the list. */
export function cursorAt({ index, reference }: Start): string {
  return `${index}:${reference}`;
}

/** @throws ConfigurationError unless the text is the cursor of a report */
export function parseCursor(cursor: string | undefined): Start | undefined {
  if (cursor === undefined) return undefined;
  const match = typeof cursor === 'string' ? /^(\d{1,15}):(.*)/s.exec(cursor) : null;
  check(match !== null, 'cursor', 'must be the cursor of a report or of onProgress');
  return { index: Number(match[1]), reference: match[2]! };
}

/** Yields each reference once, from the start to the end, then the references before the start. */
export async function* inOrder(
  references: References,
  start: Start | undefined,
): AsyncGenerator<Item, void, undefined> {
  const isStart = startOf(references, start);
  const before: Start[] = [];
  let index = 0;
  let order = 0;
  let started = false;
  for await (const reference of references) {
    const item = { reference, index: index++ };
    started ||= isStart(item);
    if (started) yield { ...item, order: order++ };
    else before.push(item);
  }
  for (const item of before) yield { ...item, order: order++ };
}

function startOf(references: References, start: Start | undefined): (item: Start) => boolean {
  if (!Array.isArray(references)) {
    if (start === undefined) return () => true;
    return ({ index, reference }) => index === start.index || reference === start.reference;
  }
  // A random start, so that a run's time limit does not always cut off the same references.
  const random = Math.floor(Math.random() * references.length);
  const found = start === undefined ? random : references.indexOf(start.reference);
  const first = found >= 0 ? found : start!.index;
  return ({ index }) => index === first;
}
