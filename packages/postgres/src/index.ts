export type {
  ClientOf,
  DrizzleDatabase,
  PgClient,
  PgliteDatabase,
  PgPool,
  PoolOptions,
  StoreOptions,
  TransactionalDatabase,
} from './databases.js';
export { migrationSql, type MarkTable } from './sql.js';
export { postgresStore, type PostgresStore } from './store.js';
