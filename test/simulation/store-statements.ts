import { MarkSql } from '../../packages/postgres/src/marks.js';

const sql = new MarkSql({ schema: 'public' });

/** The statement with which the store claims a key. */
export function claimOf(digest: string): string {
  return sql.run(digest, undefined, 60_000).claim;
}
