/** The recipes of examples/databases, in the order of the table. */
export interface RecipeRow {
  readonly database: 'PostgreSQL' | 'Supabase' | 'MySQL, MariaDB' | 'SQLite' | 'DynamoDB';
  readonly library: string;
  /** A file of examples/databases. */
  readonly file: string;
}

const on = (
  database: RecipeRow['database'],
  recipes: Readonly<Record<string, string>>,
): RecipeRow[] => Object.entries(recipes).map(([library, file]) => ({ database, library, file }));

export const RECIPES: readonly RecipeRow[] = [
  ...on('PostgreSQL', {
    pg: 'pg',
    'pg, with a wallet and an outbox': 'pg-more-writes',
    'postgres.js': 'postgres-js',
    Drizzle: 'drizzle',
    'Prisma 7': 'prisma',
    Kysely: 'kysely',
    Knex: 'knex',
    TypeORM: 'typeorm',
    Sequelize: 'sequelize',
    MikroORM: 'mikro-orm',
  }),
  ...on('Supabase', { 'supabase-js': 'supabase' }),
  ...on('MySQL, MariaDB', {
    mysql2: 'mysql2',
    mariadb: 'mariadb',
    Drizzle: 'drizzle-mysql',
    'Prisma 7': 'prisma-mysql',
    TypeORM: 'typeorm-mysql',
  }),
  ...on('SQLite', {
    libsql: 'libsql',
    'better-sqlite3': 'better-sqlite3',
    Drizzle: 'drizzle-sqlite',
    'Prisma 7': 'prisma-sqlite',
  }),
  ...on('DynamoDB', { 'AWS SDK 3': 'dynamodb' }),
];

/**
 * Rows that no race of several processes can judge. `engine` is – if the recipe was not run on the
 * real engine.
 */
export const NOT_RACED: readonly (readonly [
  database: string,
  library: string,
  file: string,
  engine: string,
])[] = [
  ['PostgreSQL in the process', 'PGlite', 'pglite', 'PGlite 0.5, one process'],
  ['Cloudflare D1', 'the binding', 'd1', 'D1 of Miniflare 4, one process'],
  ['MongoDB', 'mongodb', 'mongodb', '–'],
  ['MongoDB', 'Mongoose', 'mongoose', '–'],
  ['Firestore', 'firebase-admin', 'firestore', '–'],
];
