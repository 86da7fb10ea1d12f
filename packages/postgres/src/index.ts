export { guardedPool } from './guarded-pool.js';
export { migrationSql, type MarkTable } from './marks.js';
export { postgresStore, type PostgresStore } from './postgres-store.js';
export type { PoolOptions, StoreOptions, TransactionOptions } from './options.js';
export type { ClientOf, PgClient, PgPool, RunSql, TransactionalDatabase } from './drivers.js';
