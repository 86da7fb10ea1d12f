import { MarkSql, type RunSql } from '../../packages/postgres/src/sql.js';

const sql = new MarkSql({ schema: 'public' });

/** The statements of the store for a key that is its own turn. */
export function statementsFor(digest: string): RunSql {
  return sql.run(digest, digest, 60_000);
}
