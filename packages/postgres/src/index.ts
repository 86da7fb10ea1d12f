export { guardedPool } from './guards.js';
export { migrationSql, type MarkTable } from './marks.js';
export { postgresStore, type PostgresStore } from './postgres-store.js';
export type {
  ClientOf,
  PgClient,
  PgPool,
  PoolOptions,
  RunSql,
  StoreOptions,
  TransactionalDatabase,
  TransactionOptions,
} from './options.js';
