import { Marks } from '../../packages/postgres/src/marks.js';

const marks = new Marks({ schema: 'public' });

/** The statement with which the store claims a key. */
export function claimOf(digest: string): string {
  return marks.claim(digest, undefined, 60_000);
}
