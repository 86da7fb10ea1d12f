import { MarkSql } from '../../packages/postgres/src/marks.js';

const sql = new MarkSql({ schema: 'public' });

/** The statement with which the store claims a key. */
export function claimOf(digest: string): string {
  return sql.run(digest, undefined, 60_000).claim();
}

/** The two with which it claims a key under the turn of that key, once the session has prepared the first. */
export function preparedClaimOf(digest: string): { readonly prepare: string; readonly execute: string } {
  return sql.run(digest, digest, 60_000).prepared!;
}
