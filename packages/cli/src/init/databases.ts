/** Finds the database of a project, and what `paylink init` adds to its recipe. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { hasRecipe } from './recipes.js';

export type Dialect = 'postgres' | 'mysql' | 'sqlite';

export interface Database {
  /** The name of the recipe in examples/databases, or `memory`. */
  readonly recipe: string;
  readonly dialect?: Dialect;
  /** The variable that names a file or a folder, if the database needs no server. */
  readonly place?: 'DATABASE_FILE' | 'DATABASE_FOLDER';
  /** The packages that the recipe imports. */
  readonly packages: readonly string[];
  readonly types?: readonly string[];
  /** The statement that inserts an order. */
  readonly insert: string;
  /** The statement that creates the table of `TABLE`. Prisma creates its own. */
  readonly createTable?: string;
  /** The database that was found, if it has no recipe. */
  readonly unsupported?: string;
}

const COLUMNS = 'INSERT INTO orders (reference, amount, currency) VALUES';
const VALUES = '[reference, amount, currency]';
const AS_TEXT = 'reference, amount: String(amount), currency';

const postgres = (rest: Omit<Database, 'dialect'>): Database => ({ dialect: 'postgres', ...rest });
const pgTypes = ['@types/pg'];
const sqlite = (recipe: string): Database => ({
  recipe,
  dialect: 'sqlite',
  place: 'DATABASE_FILE',
  packages: [recipe],
  ...(recipe === 'libsql' ? {} : { types: [`@types/${recipe}`] }),
  insert: `db.prepare('${COLUMNS} (?, ?, ?)').run(reference, amount, currency);`,
  createTable: 'db.exec(TABLE);',
});
const prisma = (dialect: Dialect, adapter: string, recipe = `prisma-${dialect}`): Database => ({
  recipe,
  dialect,
  ...(dialect === 'sqlite' ? { place: 'DATABASE_FILE' } : {}),
  packages: ['@prisma/client', `@prisma/adapter-${adapter}`],
  insert: 'await prisma.order.create({ data: { reference, amount, currency } });',
});
const drizzle = (dialect: Dialect, driver: string, rest: Partial<Database>): Database => ({
  recipe: dialect === 'postgres' ? 'drizzle' : `drizzle-${dialect}`,
  dialect,
  ...(dialect === 'sqlite' ? { place: 'DATABASE_FILE' } : {}),
  packages: ['drizzle-orm', driver],
  insert:
    'await db.insert(table)\n    .values({ reference, amount: BigInt(amount), currency, createdAt: new Date() });',
  createTable: 'await db.execute(sql.raw(TABLE));',
  ...rest,
});

/** In the order of the search: an ORM before its driver. */
const KNOWN: readonly Database[] = [
  prisma('postgres', 'pg', 'prisma'),
  prisma('mysql', 'mariadb'),
  prisma('sqlite', 'better-sqlite3'),
  drizzle('postgres', 'pg', { types: pgTypes }),
  drizzle('mysql', 'mysql2', {}),
  drizzle('sqlite', '@libsql/client', {
    insert:
      'await db.insert(table)\n    .values({ reference, amount, currency, createdAt: sql`CURRENT_TIMESTAMP` });',
    createTable: 'await db.run(sql.raw(TABLE));',
  }),
  postgres({
    recipe: 'kysely',
    packages: ['kysely', 'pg'],
    types: pgTypes,
    insert: `await db.insertInto('orders').values({ ${AS_TEXT} }).execute();`,
    createTable: 'await sql.raw(TABLE).execute(db);',
  }),
  postgres({
    recipe: 'knex',
    packages: ['knex', 'pg'],
    insert: "await knex('orders').insert({ reference, amount, currency });",
    createTable: 'await knex.raw(TABLE);',
  }),
  postgres({
    recipe: 'typeorm',
    packages: ['typeorm', 'pg', 'reflect-metadata'],
    insert: `await table.insert({ ${AS_TEXT} });`,
    createTable: 'await db.query(TABLE);',
  }),
  postgres({
    recipe: 'sequelize',
    packages: ['sequelize', 'pg'],
    insert: `await table.create({ ${AS_TEXT}, paid_at: null });`,
    createTable: 'await db.query(TABLE);',
  }),
  postgres({
    recipe: 'mikro-orm',
    packages: ['@mikro-orm/postgresql', '@mikro-orm/core'],
    insert: `await db.em.fork().insert(entity, { ${AS_TEXT}, createdAt: new Date() });`,
    createTable: 'await db.em.getConnection().execute(TABLE);',
  }),
  postgres({
    recipe: 'pg',
    packages: ['pg'],
    types: pgTypes,
    insert: `await pool.query('${COLUMNS} ($1, $2, $3)', ${VALUES});`,
    createTable: 'await pool.query(TABLE);',
  }),
  postgres({
    recipe: 'postgres-js',
    packages: ['postgres'],
    insert: 'await sql`INSERT INTO orders ${sql({ reference, amount, currency })}`;',
    createTable: 'await sql.unsafe(TABLE);',
  }),
  postgres({
    recipe: 'pglite',
    place: 'DATABASE_FOLDER',
    packages: ['@electric-sql/pglite'],
    insert: `await db.query('${COLUMNS} ($1, $2, $3)', ${VALUES});`,
    createTable: 'await db.exec(TABLE);',
  }),
  ...['mysql2', 'mariadb'].map((recipe): Database => ({
    recipe,
    dialect: 'mysql',
    packages: [recipe],
    insert: `await pool.query('${COLUMNS} (?, ?, ?)', ${VALUES});`,
    createTable: 'await pool.query(TABLE);',
  })),
  sqlite('libsql'),
  sqlite('better-sqlite3'),
];

export const MEMORY: Database = {
  recipe: 'memory',
  packages: [],
  insert: 'memory.add({ reference, amount, currency });',
};

/** Databases that a project may have and that this command has no recipe for. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  '@supabase/supabase-js': 'Supabase',
  mongoose: 'MongoDB',
  mongodb: 'MongoDB',
  'firebase-admin': 'Firestore',
  '@aws-sdk/client-dynamodb': 'DynamoDB',
  '@neondatabase/serverless': 'Neon',
  mysql: 'MySQL with the package mysql',
  sqlite3: 'SQLite with the package sqlite3',
  tedious: 'SQL Server',
};

const PROVIDERS: Readonly<Record<string, Dialect>> = {
  postgresql: 'postgres',
  postgres: 'postgres',
  mysql: 'mysql',
  sqlite: 'sqlite',
};

/** Finds the database by package.json, schema.prisma, `supabase/` and the address in .env. */
export function findDatabase(
  folder: string,
  dependencies: Readonly<Record<string, string>>,
  isModule: boolean,
): Database {
  const has = (name: string): boolean => name in dependencies;
  const provider = has('@prisma/client') ? prismaProvider(folder) : undefined;
  const found = KNOWN.find(({ recipe, dialect, packages }) => {
    if (!hasRecipe(recipe)) return false;
    if (recipe.startsWith('prisma')) return provider === dialect && dialect !== undefined;
    // The recipe awaits at the top level, which CommonJS does not allow.
    if (recipe === 'typeorm' && !isModule) return false;
    return packages.every((name) => has(name) || name === 'reflect-metadata');
  });
  if (found !== undefined) return found;
  const byAddress = driverOf(folder);
  if (byAddress !== undefined) return byAddress;
  const other = Object.keys(UNSUPPORTED).find(has);
  const unsupported =
    other === undefined
      ? existsSync(join(folder, 'supabase'))
        ? 'Supabase'
        : provider
      : UNSUPPORTED[other];
  return unsupported === undefined ? MEMORY : { ...MEMORY, unsupported };
}

/** A project that has an address and no driver gets the usual driver. */
function driverOf(folder: string): Database | undefined {
  const path = join(folder, '.env');
  if (!existsSync(path)) return undefined;
  const address = parseEnv(readFileSync(path, 'utf8'))['DATABASE_URL'] ?? '';
  const driver = /^postgres(ql)?:/.test(address)
    ? 'pg'
    : address.startsWith('mysql:')
      ? 'mysql2'
      : '';
  return KNOWN.find(({ recipe }) => recipe === driver && hasRecipe(recipe));
}

function prismaProvider(folder: string): Dialect | undefined {
  const path = ['prisma/schema.prisma', 'schema.prisma'].find((each) =>
    existsSync(join(folder, each)),
  );
  if (path === undefined) return undefined;
  const schema = readFileSync(join(folder, path), 'utf8');
  return PROVIDERS[/datasource\s+\w+\s*\{[^}]*?provider\s*=\s*"(\w+)"/.exec(schema)?.[1] ?? ''];
}

/** Where the project's own Prisma client is, as an import from the folder of the code. */
export function prismaClientOf(folder: string): string | undefined {
  const path = join(folder, 'prisma/schema.prisma');
  const schema = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const output = /generator\s+\w+\s*\{[^}]*?output\s*=\s*"([^"]+)"/.exec(schema)?.[1];
  return output === undefined ? undefined : join('prisma', output);
}
