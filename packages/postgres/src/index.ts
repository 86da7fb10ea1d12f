export type { PoolOptions, StoreOptions, TransactionalDatabase } from './databases.js';
export { migrationSql } from './sql.js';
export { postgresStore, type PostgresStore } from './store.js';
