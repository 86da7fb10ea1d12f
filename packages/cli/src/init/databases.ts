/** The databases of `paylink init`, with the code that it adds to each recipe. */
import { readTable } from './templates.js';

export type Dialect = 'postgres' | 'mysql' | 'sqlite';

export interface Database {
  /** The name of the recipe in examples/databases, or `memory`. */
  readonly recipe: string;
  readonly dialect?: Dialect;
  /** The variable that names a file or a folder, if the database needs no server. */
  readonly place?: 'DATABASE_FILE' | 'DATABASE_FOLDER';
  /** The variables that name the database. */
  readonly variables: readonly string[];
  /** The packages that the recipe imports. */
  readonly packages: readonly string[];
  /** The packages that show that a project has this database. Default: `packages`. */
  readonly shownBy?: readonly string[];
  readonly types?: readonly string[];
  /** The statement that inserts an order. */
  readonly insert: string;
  /** Packages for development alone. */
  readonly tools?: readonly string[];
  /** The statement that creates the table of `TABLE`, or an index. */
  readonly createTable?: string;
  /** The step of a user whose code cannot create the table. */
  readonly prepare?: () => string;
  /** The package of an ORM or of a database that has no recipe here. */
  readonly replaced?: string;
}

const COLUMNS = 'INSERT INTO orders (reference, amount, currency) VALUES';
const VALUES = '[reference, amount, currency]';
const AS_TEXT = 'reference, amount: String(amount), currency';

const ADDRESS = ['DATABASE_URL'];
const FILE = { place: 'DATABASE_FILE', variables: ['DATABASE_FILE'] } as const;
const MODEL = `  model Order {
    reference String    @id
    amount    BigInt
    currency  String
    createdAt DateTime  @default(now()) @map("created_at")
    paidAt    DateTime? @map("paid_at")
    @@map("orders")
  }`;

type Rest = Omit<Database, 'dialect' | 'variables'>;
const postgres = (rest: Rest): Database => ({
  dialect: 'postgres',
  variables: ADDRESS,
  ...rest,
});
const pgTypes = ['@types/pg'];
const sqlite = (recipe: string): Database => ({
  recipe,
  dialect: 'sqlite',
  ...FILE,
  packages: [recipe],
  ...(recipe === 'libsql' ? {} : { types: [`@types/${recipe}`] }),
  insert: `db.prepare('${COLUMNS} (?, ?, ?)').run(reference, amount, currency)`,
  createTable: 'db.exec(TABLE)',
});
const prisma = (dialect: Dialect, adapter: string, recipe = `prisma-${dialect}`): Database => ({
  recipe,
  dialect,
  ...(dialect === 'sqlite' ? FILE : { variables: ADDRESS }),
  packages: ['@prisma/client', `@prisma/adapter-${adapter}`],
  tools: ['prisma'],
  insert: 'await prisma.order.create({ data: { reference, amount, currency } })',
  prepare: () =>
    `if your schema.prisma has no orders, add the model, then migrate both databases:\n${MODEL}`,
});
const drizzle = (dialect: Dialect, driver: string, rest: Partial<Database>): Database => ({
  recipe: dialect === 'postgres' ? 'drizzle' : `drizzle-${dialect}`,
  dialect,
  variables: ADDRESS,
  packages: ['drizzle-orm', driver],
  insert:
    'await db.insert(table)\n    .values({ reference, amount: BigInt(amount), currency, createdAt: new Date() })',
  createTable: 'await db.execute(sql.raw(TABLE))',
  ...rest,
});

/** In the order of the search: an ORM before its driver. */
export const KNOWN: readonly Database[] = [
  prisma('postgres', 'pg', 'prisma'),
  prisma('mysql', 'mariadb'),
  prisma('sqlite', 'better-sqlite3'),
  drizzle('postgres', 'pg', { types: pgTypes }),
  drizzle('mysql', 'mysql2', {}),
  drizzle('sqlite', 'better-sqlite3', {
    types: ['@types/better-sqlite3'],
    ...FILE,
    insert:
      'await db.insert(table)\n    .values({ reference, amount, currency, createdAt: sql`CURRENT_TIMESTAMP` })',
    createTable: 'db.run(sql.raw(TABLE))',
  }),
  postgres({
    recipe: 'kysely',
    packages: ['kysely', 'pg'],
    types: pgTypes,
    insert: `await db.insertInto('orders').values({ ${AS_TEXT} }).execute()`,
    createTable: 'await sql.raw(TABLE).execute(db)',
  }),
  postgres({
    recipe: 'knex',
    packages: ['knex', 'pg'],
    insert: "await knex('orders').insert({ reference, amount, currency });",
    createTable: 'await knex.raw(TABLE)',
  }),
  postgres({
    recipe: 'typeorm',
    packages: ['typeorm', 'pg', 'reflect-metadata'],
    insert: `await table.insert({ ${AS_TEXT} })`,
    createTable: 'await db.query(TABLE)',
  }),
  {
    recipe: 'typeorm-mysql',
    dialect: 'mysql',
    variables: ADDRESS,
    packages: ['typeorm', 'mysql2', 'reflect-metadata'],
    insert: `await (await db).manager.insert(OrderRow, { ${AS_TEXT} })`,
    createTable: 'await (await db).query(TABLE)',
  },
  postgres({
    recipe: 'sequelize',
    packages: ['sequelize', 'pg'],
    insert: `await table.create({ ${AS_TEXT}, paid_at: null })`,
    createTable: 'await db.query(TABLE)',
  }),
  postgres({
    recipe: 'mikro-orm',
    packages: ['@mikro-orm/postgresql', '@mikro-orm/core'],
    insert: `await db.em.fork().insert(entity, { ${AS_TEXT}, createdAt: new Date() })`,
    createTable: 'await db.em.getConnection().execute(TABLE)',
  }),
  postgres({
    recipe: 'pg',
    packages: ['pg'],
    types: pgTypes,
    insert: `await pool.query('${COLUMNS} ($1, $2, $3)', ${VALUES})`,
    createTable: 'await pool.query(TABLE)',
  }),
  postgres({
    recipe: 'postgres-js',
    packages: ['postgres'],
    insert: 'await sql`INSERT INTO orders ${sql({ reference, amount, currency })}`',
    createTable: 'await sql.unsafe(TABLE)',
  }),
  {
    recipe: 'pglite',
    dialect: 'postgres',
    place: 'DATABASE_FOLDER',
    variables: ['DATABASE_FOLDER'],
    packages: ['@electric-sql/pglite'],
    insert: `await db.query('${COLUMNS} ($1, $2, $3)', ${VALUES})`,
    createTable: 'await db.exec(TABLE)',
  },
  ...['mysql2', 'mariadb'].map((recipe): Database => ({
    recipe,
    dialect: 'mysql',
    variables: ADDRESS,
    packages: [recipe],
    insert: `await pool.query('${COLUMNS} (?, ?, ?)', ${VALUES})`,
    createTable: 'await pool.query(TABLE)',
  })),
  sqlite('libsql'),
  sqlite('better-sqlite3'),
  {
    recipe: 'supabase',
    variables: ['SUPABASE_URL', 'SUPABASE_SECRET_KEY'],
    packages: ['@supabase/supabase-js'],
    insert: `await supabase
    .from('orders')
    .insert({ reference, amount, currency })
    .throwOnError()`,
    prepare: () =>
      `if your orders have no table, run this in the SQL editor of both projects:\n${readTable('supabase').replace(/^/gm, '  ')}`,
  },
  {
    recipe: 'mongoose',
    variables: ['MONGODB_URL'],
    packages: ['mongoose'],
    insert: 'await table.create({ reference, amount, currency })',
    createTable: 'await table.init()',
  },
  {
    recipe: 'mongodb',
    variables: ['MONGODB_URL'],
    packages: ['mongodb'],
    insert:
      'await (await table()).insertOne({ reference, amount, currency, createdAt: new Date() })',
    createTable: 'await (await table()).createIndexes([{ key: { reference: 1 }, unique: true }])',
  },
  {
    recipe: 'firestore',
    variables: ['FIRESTORE_EMULATOR_HOST', 'GCLOUD_PROJECT'],
    packages: ['firebase-admin'],
    insert: `const createdAt = FieldValue.serverTimestamp();
  await table.doc(reference).create({ amount, currency, createdAt, paidAt: null })`,
    prepare: () =>
      'create a composite index of the collection orders on paidAt and createdAt, both ascending',
  },
  {
    recipe: 'dynamodb',
    variables: ['ORDERS_TABLE'],
    packages: ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb'],
    shownBy: ['@aws-sdk/client-dynamodb'],
    insert: `await db.put({
    TableName,
    Item: { reference, amount, currency, createdAt: Date.now(), unpaid: 'yes' },
    ConditionExpression: 'attribute_not_exists(amount)',
  })`,
    prepare: () =>
      'create both tables with the key reference, and with the indexes unpaid and paid: partition key unpaid or paid, sort key createdAt (a number)',
  },
];

export const MEMORY: Database = {
  recipe: 'memory',
  variables: [],
  packages: [],
  insert: 'memory.add({ reference, amount, currency })',
};

/** An orders module of another ORM leaves these unused, which the command says. */
export const ORMS =
  '@prisma/client drizzle-orm kysely knex typeorm sequelize @mikro-orm/core'.split(' ');

/** The packages of databases that this command has no recipe for. */
export const UNSUPPORTED = '@neondatabase/serverless mysql sqlite3 tedious wrangler'.split(' ');
