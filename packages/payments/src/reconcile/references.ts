/** The order in which a run asks for references, and the cursor at which the next run starts. */
import { check } from '@paylink/core';

/** All at once, or as they are read from a database: the oldest first. */
export type References = (Iterable<string> & object) | AsyncIterable<string>;

export interface Item {
  readonly reference: string;
  /** Place in the list of the merchant. */
  readonly index: number;
  /** Place in the order of this run. */
  readonly order: number;
}

type Start = Omit<Item, 'order'>;

/** @throws ConfigurationError */
export function checkReferences(references: unknown): void {
  // A string is iterable too, by its characters.
  const isList = typeof references === 'object' && references !== null;
  check(
    isList && (Symbol.iterator in references || Symbol.asyncIterator in references),
    'references',
    'must be an iterable or async iterable of references, such as an array',
  );
}

/** Index and reference: an order that is paid meanwhile is no longer in the list. */
export function cursorAt({ index, reference }: Start): string {
  return `${index}:${reference}`;
}

/** @throws ConfigurationError unless it is the cursor of a report */
export function parseCursor(cursor: string | undefined): Start | undefined {
  if (cursor === undefined) return undefined;
  const match = typeof cursor === 'string' ? /^(\d{1,15}):(.*)/s.exec(cursor) : null;
  check(match !== null, 'cursor', 'must be the cursor of a report or of onProgress');
  return { index: Number(match[1]), reference: match[2]! };
}

/** Gives each reference once, from the start to the end, then those before the start. */
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
  // Random, so that the limit of a run does not always cut off the same references.
  const random = Math.floor(Math.random() * references.length);
  const found = start === undefined ? random : references.indexOf(start.reference);
  const first = found >= 0 ? found : start!.index;
  return ({ index }) => index === first;
}
