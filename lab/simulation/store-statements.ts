import { MarkSql, type RunSql } from '../../packages/postgres/src/sql.js';

const sql = new MarkSql({ schema: 'public' });

/** Returns the store's statements for a key that is its own turn. */
export function statementsFor(digest: string): RunSql {
  return sql.run(digest, digest, 60_000);
}
